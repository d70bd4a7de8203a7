// nvcc 13.0 -O3 -arch=sm_80 -ptx typical.cu
#include <cuda_fp16.h>
#include <mma.h>
#include <math_constants.h>
using namespace nvcuda;
extern "C" __global__ void softmax(float* out, const float* in, int cols) {
  int row=blockIdx.x; const float* p=in+(size_t)row*cols; __shared__ float red[32];
  float m=-CUDART_INF_F; for(int c=threadIdx.x;c<cols;c+=blockDim.x) m=fmaxf(m,p[c]);
  for(int o=16;o;o>>=1) m=fmaxf(m,__shfl_xor_sync(~0u,m,o)); if((threadIdx.x&31)==0) red[threadIdx.x>>5]=m; __syncthreads();
  m=red[threadIdx.x&31]; for(int o=16;o;o>>=1) m=fmaxf(m,__shfl_xor_sync(~0u,m,o)); __syncthreads();
  float s=0; for(int c=threadIdx.x;c<cols;c+=blockDim.x) s+=__expf(p[c]-m);
  for(int o=16;o;o>>=1) s+=__shfl_xor_sync(~0u,s,o); if((threadIdx.x&31)==0) red[threadIdx.x>>5]=s; __syncthreads();
  s=red[threadIdx.x&31]; for(int o=16;o;o>>=1) s+=__shfl_xor_sync(~0u,s,o);
  for(int c=threadIdx.x;c<cols;c+=blockDim.x) out[(size_t)row*cols+c]=__expf(p[c]-m)/s; }
extern "C" __global__ void transpose(float* out, const float* in, int w, int h) {
  __shared__ float t[32][33]; int x=blockIdx.x*32+threadIdx.x, y=blockIdx.y*32+threadIdx.y;
  for(int j=0;j<32;j+=8) t[threadIdx.y+j][threadIdx.x]=in[(y+j)*w+x]; __syncthreads();
  x=blockIdx.y*32+threadIdx.x; y=blockIdx.x*32+threadIdx.y; for(int j=0;j<32;j+=8) out[(y+j)*h+x]=t[threadIdx.x][threadIdx.y+j]; }
extern "C" __global__ void spmv(float* y,const float* val,const int* col,const int* row,const float* x,int n){
  int r=blockIdx.x*blockDim.x+threadIdx.x; if(r<n){ float s=0; for(int j=row[r];j<row[r+1];++j) s+=val[j]*x[col[j]]; y[r]=s; } }
extern "C" __global__ void nbody(float4* acc,const float4* pos,int n){
  __shared__ float4 sp[256]; int i=blockIdx.x*256+threadIdx.x; float4 p=pos[i]; float ax=0,ay=0,az=0;
  for(int t=0;t<n;t+=256){ sp[threadIdx.x]=pos[t+threadIdx.x]; __syncthreads();
    #pragma unroll 8
    for(int j=0;j<256;++j){ float dx=sp[j].x-p.x,dy=sp[j].y-p.y,dz=sp[j].z-p.z; float d=dx*dx+dy*dy+dz*dz+1e-9f; float r=rsqrtf(d); float f=sp[j].w*r*r*r; ax+=dx*f;ay+=dy*f;az+=dz*f; } __syncthreads(); }
  acc[i]=make_float4(ax,ay,az,0); }
extern "C" __global__ void dot_double(double* out,const double* a,const double* b,int n){ double s=0; for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=blockDim.x*gridDim.x) s+=a[i]*b[i]; for(int o=16;o;o>>=1) s+=__shfl_down_sync(~0u,s,o); if((threadIdx.x&31)==0) atomicAdd(out,s); }
extern "C" __global__ void collatz(unsigned* out,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return; unsigned long long v=i+1; unsigned k=0; while(v!=1){ v = v&1? 3*v+1 : v/2; ++k; if(k>10000) break; } out[i]=k; }
extern "C" __global__ void haxpy(__half2* y,const __half2* x,__half2 a,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) y[i]=__hfma2(a,x[i],y[i]); }
extern "C" __global__ void scan_block(int* out,const int* in){ __shared__ int t[1024]; int i=threadIdx.x; t[i]=in[blockIdx.x*1024+i]; __syncthreads(); for(int o=1;o<1024;o<<=1){ int v= i>=o? t[i-o]:0; __syncthreads(); t[i]+=v; __syncthreads(); } out[blockIdx.x*1024+i]=t[i]; }
extern "C" __global__ void wmma_tile(float* c,const half* a,const half* b){ wmma::fragment<wmma::matrix_a,16,16,16,half,wmma::row_major> fa; wmma::fragment<wmma::matrix_b,16,16,16,half,wmma::col_major> fb; wmma::fragment<wmma::accumulator,16,16,16,float> fc; wmma::fill_fragment(fc,0.0f); wmma::load_matrix_sync(fa,a,16); wmma::load_matrix_sync(fb,b,16); wmma::mma_sync(fc,fa,fb,fc); wmma::store_matrix_sync(c,fc,16,wmma::mem_row_major); }
