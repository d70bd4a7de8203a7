# For other scripts to source: small root file systems that debootstrap makes, to try things where nothing is installed.

# release_of SYSTEM: what debootstrap calls debian11, debian12, debian13, ubuntu22.04 or ubuntu24.04.
release_of() {
    case $1 in
        debian11) echo bullseye ;;
        debian12) echo bookworm ;;
        debian13) echo trixie ;;
        ubuntu22.04) echo jammy ;;
        ubuntu24.04) echo noble ;;
        *) return 1 ;;
    esac
}

# roots_need NAME: ends the script NAME with a message where no root can be made.
roots_need() {
    [[ $(id -u) -eq 0 ]] || { echo "$1: making a root file system needs root" >&2; exit 2; }
    command -v debootstrap >/dev/null ||
        { echo "$1: debootstrap is missing; install the package of that name" >&2; exit 2; }
}

# make_root ROOT RELEASE PACKAGES: a minimal system with these packages (divided by commas, or none) beside debootstrap's
# minbase. MIRROR names another Debian mirror, UBUNTU_MIRROR another one of Ubuntu. Ubuntu's signature is checked with
# the package ubuntu-keyring, which Debian 13 has. Without it, debootstrap takes what the mirror gives only where
# UBUNTU_UNSIGNED is set. With ARCH, the system is for that processor, which needs qemu-user-static and binfmt_misc.
make_root() {
    local root=$1 release=$2 options=() script=() mirror=${MIRROR:-http://deb.debian.org/debian}
    [[ -e $root/whole ]] && return
    [[ -z ${ARCH:-} ]] || options+=("--arch=$ARCH")
    [[ -z ${3:-} ]] || options+=("--include=$3")
    case $release in
        jammy | noble)
            local keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
            mirror=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}
            options+=(--components=main,universe)
            script=(gutsy)  # the script of all Ubuntus since; debootstrap knows only the names of older ones than itself
            if [[ -e $keys ]]; then
                options+=("--keyring=$keys")
            elif [[ -n ${UBUNTU_UNSIGNED:-} ]]; then
                options+=(--no-check-gpg)
            else
                echo "$release: $keys is missing; install ubuntu-keyring, or set UBUNTU_UNSIGNED=1" >&2
                return 1
            fi
            ;;
    esac
    debootstrap --variant=minbase "${options[@]}" "$release" "$root" "$mirror" "${script[@]}"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    touch "$root/whole"  # a root that was interrupted is made again
}

# in_root ROOT COMMAND: runs it with the kernel's file systems mounted. No other process sees these mounts, and they end
# with the command, whatever happens to it.
in_root() {
    local root=$1
    shift
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        unshare --mount bash -euo pipefail -c 'mount --bind /proc "$0/proc"; mount --bind /dev "$0/dev"
            exec chroot "$0" bash -euo pipefail -c "$1"' "$root" "$*"
}
