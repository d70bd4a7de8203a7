#include "report/plot/element.hpp"

#include "report/plot/series.hpp"
#include "report/plot/svg.hpp"
#include "report/text.hpp"
#include "report/plot/vega.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace gputomo::report {
namespace {

/// Each plot is made when it comes into view, and again when the colour scheme changes. Ctrl + wheel zooms, so that the page still scrolls.
constexpr std::string_view kDrawer = R"js(
(()=>{
const dark=matchMedia('(prefers-color-scheme:dark)'),drawn=new Set();
const axis=c=>({labelOverlap:'greedy',labelSeparation:6,title:c.name+(c.unit?', '+c.unit:''),labelExpr:(c.unit||c.name)==='bytes'?"datum.value>=1073741824?format(datum.value/1073741824,'.4~g')+' GiB':datum.value>=1048576?format(datum.value/1048576,'.4~g')+' MiB':datum.value>=1024?format(datum.value/1024,'.4~g')+' KiB':format(datum.value,'.4~g')":undefined});
const scale=(c)=>c.log?{type:'log',base:2,nice:false}:{zero:c.zero};
function draw(box){
  const data=JSON.parse(box.nextElementSibling.textContent),ink=getComputedStyle(document.body).color;
  const values=data.series.flatMap(s=>s.x.map((x,i)=>({x,y:s.y[i],series:s.name,...(s.shade?{shade:s.shade[i]}:{}),...(s.until?{until:s.until[i]}:{})})));
  if(data.series.length>1&&data.y.unit&&!data.split)data.y={...data.y,name:data.y.unit,unit:''};
  const spec={width:'container',height:260,background:null,data:{values},autosize:{type:'fit',contains:'padding'},
    params:[{name:'zoom',select:{type:'interval',zoom:'wheel![event.ctrlKey]'},bind:'scales'}],
    mark:data.until?{type:'bar',orient:'horizontal',size:6,opacity:.6}:data.shade?{type:'square',filled:true,size:45,opacity:1}:data.line?{type:'line',point:{size:22},strokeWidth:1.2}:{type:'point',filled:true,size:22},
    encoding:{...(data.until?{x2:{field:'until'}}:{}),x:{field:'x',type:'quantitative',scale:scale(data.x),axis:axis(data.x)},y:{field:'y',type:'quantitative',scale:scale(data.y),axis:axis(data.y)},
      color:data.shade?{field:'shade',type:'quantitative',scale:{scheme:'viridis',type:'symlog'},legend:{title:data.shade.name+(data.shade.unit?', '+data.shade.unit:''),orient:'top',titleColor:ink}}:{field:'series',type:'nominal',sort:null,legend:data.series.length>1?{title:null,orient:'top',columns:6}:null},
      tooltip:[{field:'series',title:'series'},{field:'x',title:data.x.name},{field:'y',title:data.y.name},...(data.shade?[{field:'shade',title:data.shade.name}]:[]),...(data.until?[{field:'until',title:data.until.name}]:[])]},
    config:{font:'system-ui, sans-serif',range:{category:['#2f6fde','#d9622b','#2a9d63','#a04bc4','#b08a1e','#5b6b7b']},
      axis:{labelColor:ink,titleColor:ink,tickColor:'#8795a5',domainColor:'#8795a5',gridColor:dark.matches?'#33404d':'#d8dfe6'},legend:{labelColor:ink},view:{stroke:null}}};
  return vegaEmbed(box,spec,{renderer:'svg',actions:{export:true,source:false,compiled:false,editor:false},downloadFileName:box.dataset.name,tooltip:{theme:dark.matches?'dark':'light'}})
    .then(()=>{box.dataset.drawn='yes';drawn.add(box)});
}
const watcher=new IntersectionObserver(entries=>{for(const e of entries)if(e.isIntersecting){watcher.unobserve(e.target);draw(e.target)}},{rootMargin:'200px'});
document.querySelectorAll('.plot').forEach(box=>watcher.observe(box));
dark.addEventListener('change',()=>drawn.forEach(draw));
})();
)js";

nlohmann::ordered_json axis_json(const deduce::Trace::Column& column, bool log, bool zero) { return {{"name", column.name}, {"unit", column.unit}, {"log", log}, {"zero", zero}}; }

/// What the drawer reads. Six digits are more than the screen shows.
std::string data_json(const deduce::Trace& trace, const std::vector<Series>& series) {
    const auto digits = [](double value) { return nlohmann::ordered_json::parse(fmt::format("{:.7g}", value)); };
    nlohmann::ordered_json json{{"x", axis_json(*series.front().x, trace.plot.log_x, false)}, {"y", axis_json(*series.front().y, trace.plot.log_y, true)}, {"line", true}, {"split", !trace.plot.split.empty()}, {"series", nlohmann::ordered_json::array()}};
    for (const auto& s : series) {
        nlohmann::ordered_json xs = nlohmann::ordered_json::array(), ys = nlohmann::ordered_json::array(), shades = ys, untils = ys;
        double last = -std::numeric_limits<double>::infinity();
        for (const auto i : s.points) {
            if (s.x->values[i] <= last) json["line"] = false;  // several values at one place, or a path that turns back: points alone
            last = s.x->values[i];
            xs.push_back(digits(last));
            ys.push_back(digits(s.y->values[i]));
            if (s.shade != nullptr) shades.push_back(digits(s.shade->values[i]));
            if (s.until != nullptr) untils.push_back(digits(s.until->values[i]));
        }
        json["series"].push_back({{"name", s.name}, {"x", xs}, {"y", ys}});
        if (s.shade != nullptr) json["series"].back()["shade"] = shades, json["shade"] = axis_json(*s.shade, false, false);
        if (s.until != nullptr) json["series"].back()["until"] = untils, json["until"] = axis_json(*s.until, false, false);
    }
    auto text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    for (auto at = text.find('<'); at != std::string::npos; at = text.find('<', at)) text.replace(at, 1, "\\u003c");  // "</script>" would end it
    return text;
}

}  // namespace

std::string plot_element(const deduce::Trace& trace) {
    const auto picture = svg(trace);
    if (picture.empty()) return {};
    const auto series = series_of(trace);
    std::string note;
    const auto kept = series.front().points.size(), all = series.front().x->values.size();
    if (series.front().thinned) note = fmt::format("; {} of {} points, those that would be seen", kept, all);
    std::string out = fmt::format("<figure id='{}'><div class=plot data-name='{}'>{}</div>", anchor("trace", trace.name), anchor("plot", trace.name), picture);
    if (!vega_scripts().empty()) out += fmt::format("<script type='application/json'>{}</script>", data_json(trace, series));
    return out + fmt::format("<figcaption>{} ({}{})</figcaption></figure>", escaped(trace.plot.title), escaped(trace.name), note);
}

std::string plot_scripts(const std::vector<deduce::Trace>& traces) {
    if (vega_scripts().empty() || std::all_of(traces.begin(), traces.end(), [](const auto& trace) { return svg(trace).empty(); })) return {};
    return fmt::format("<p class=m>Plots: drag to move, Ctrl and the wheel to zoom, double-click to go back. Drawn with Vega-Lite.</p><script>{}</script><script>{}</script>", vega_scripts(), kDrawer);
}

}  // namespace gputomo::report
