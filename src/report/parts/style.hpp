// The style sheet of gputomo's pages.
#pragma once

#include <string_view>

namespace gputomo::report {

inline constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--fg:#1c2530;--bg:#fff;--soft:#f2f5f8;--line:#d8dfe6;--dim:#56657a;--link:#1f5fc4;--compute:#fbe3d3;--store:#d9e7fb;--cache:#d8f0df;--translation:#ecdff7;--memory:#e3e7ec;--edge:#8795a5}
@media(prefers-color-scheme:dark){:root{--fg:#e3e9ef;--bg:#12171d;--soft:#1b232c;--line:#33404d;--dim:#9aaaba;--link:#7fb2ff;--compute:#53321d;--store:#1d3558;--cache:#1c4029;--translation:#412a55;--memory:#333d48;--edge:#74859a}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:0 auto;max-width:74rem;padding:1rem;overflow-wrap:break-word}td.m,.warn,li,figcaption,summary,p,h1{overflow-wrap:anywhere}
a{color:var(--link)}h1{font-size:1.6rem;margin:.4rem 0}h2{font-size:1.25rem;margin:2.2rem 0 .5rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:1.4rem 0 .2rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .6rem .25rem 0;vertical-align:top;border-bottom:1px solid var(--line)}tr.key th{padding-top:.8rem;border-bottom:2px solid var(--line)}
tbody th{font-weight:400}tr.key th{font-weight:600}tr{scroll-margin-top:6rem}tr:target,section:target,figure:target,li:target{background:var(--soft);outline:2px solid var(--link)}
td.v{font-variant-numeric:tabular-nums;font-weight:600}td.m,p.m{color:var(--dim);font-size:.85rem}td.c{white-space:nowrap}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr));gap:.5rem;align-content:start}.card{background:var(--soft);border-radius:.5rem;padding:.45rem .7rem;color:inherit;text-decoration:none}
.card b{display:block;font-size:1rem}.card span{color:var(--dim);font-size:.82rem;line-height:1.3;display:block}.warn{border-left:4px solid #d9622b;background:var(--soft);padding:.25rem .7rem;margin:.3rem 0;font-size:.85rem}
.first{display:grid;grid-template-columns:minmax(0,1fr) 21rem;gap:1rem;align-items:start}.beside .cards{grid-template-columns:1fr 1fr}.card.long{grid-column:1/-1}details.warns{margin-top:.6rem}nav{margin:.3rem 0 .8rem}nav a{margin-right:.9rem;display:inline-block}
.scroll{overflow-x:auto}.scroll td{min-width:5.2rem}.scroll td.m{min-width:15rem}figure{margin:1rem 0}figcaption{color:var(--dim);font-size:.85rem}.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,28rem),1fr));gap:.2rem 1.2rem}
svg{width:100%;height:auto;max-width:44rem}svg text{font-size:11px;fill:var(--fg)}svg .grid{stroke:var(--line)}
svg.gpu{max-width:none;display:block}.narrow{display:none}svg.gpu rect.frame{fill:none;stroke:var(--edge)}svg.gpu .frame-name{font-weight:600;fill:var(--dim)}svg.gpu .name{font-weight:700}svg.gpu .wire{stroke:var(--edge);stroke-width:3}
svg.gpu .box rect{stroke:var(--edge)}svg.gpu .undecided rect{stroke-dasharray:5 3;stroke-width:1.6}svg.gpu .cells{fill:var(--edge)}svg.gpu a:hover rect,svg.gpu a:focus rect{stroke:var(--link);stroke-width:2}
.compute rect{fill:var(--compute)}.store rect{fill:var(--store)}.cache rect{fill:var(--cache)}.translation rect{fill:var(--translation)}.memory rect{fill:var(--memory)}
pre{background:var(--soft);padding:.6rem;overflow-x:auto;font-size:.8rem}.pass{color:#1d7f3f}.fail{color:#c0392b}.plot{min-height:12rem;max-width:44rem}.plot .vega-embed{width:100%}
table.compare th[scope=row]{position:sticky;left:0;background:var(--bg);min-width:8rem}table.compare td{min-width:6.5rem}table.compare tr.differs td{font-weight:600}table.compare tr.same td{color:var(--dim)}
table.compare thead th{min-width:6.5rem}.trend{margin:.6rem 0}.trend h3{margin:.2rem 0}.trend th{width:9rem;font-weight:400}.trend td{padding:.2rem 0}
.trend .bar{display:flex;align-items:center;gap:.4rem;height:1.1rem;font-size:.82rem;font-variant-numeric:tabular-nums}.trend i{display:inline-block;height:.75rem;border-radius:2px;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.trend p.key{margin:.1rem 0;font-size:.82rem}.trend p.key i{width:.75rem}.q0{background:#2f6fde}.q1{background:#d9622b}label.only{display:block;margin:.6rem 0;font-weight:600}body:has(#differences:checked) :is(tr.same,tbody.same){display:none}
table.models th[scope=row]{white-space:nowrap}.card small{display:block;color:var(--dim);font-size:.78rem;margin-top:.15rem}
@media(prefers-color-scheme:dark){.pass{color:#63c787}.fail{color:#ff8a75}}
@media(max-width:52rem){.first{grid-template-columns:minmax(0,1fr)}.beside{order:-1}}
@media(max-width:40rem){.wide{display:none!important}.narrow{display:block!important}body{padding:.6rem}table.leaves,table.leaves tbody{display:block}table.leaves thead{display:none}table.leaves tr{display:flex;flex-wrap:wrap;gap:0 .8rem;border-bottom:1px solid var(--line);padding:.2rem 0}table.leaves td,table.leaves th{border:0;padding:0;min-width:0;max-width:100%;overflow-wrap:anywhere}table.leaves .m{width:100%}}
@media print{nav,.vega-embed summary{display:none}body{max-width:none;padding:0;font-size:11px}.beside .cards{grid-template-columns:repeat(5,1fr)}.plots{grid-template-columns:1fr 1fr}.first{grid-template-columns:1fr}figure,.card,tr,svg.gpu{break-inside:avoid}a{color:inherit;text-decoration:none}.wide{display:block!important}.narrow{display:none!important}}
)css";

}  // namespace gputomo::report
