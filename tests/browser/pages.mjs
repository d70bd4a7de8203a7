// The pages that the browser test opens: each is written by `gputomo`, all at the same time.
import {execFile} from 'node:child_process';
import {mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const run = promisify(execFile);
const here = relative => fileURLToPath(new URL(relative, import.meta.url));
const machines = here('../../machines'), recordings = here('../../recordings'), fixtures = here('../answer/fixtures');

/// Ten descriptions, one of them of the GPU whose surface is drawn beside them.
function comparedMachines() {
  const others = readdirSync(machines).filter(f => f.endsWith('.json') && f !== 'h200.json');
  return [...others.slice(0, 9), 'h200.json'];
}

/// An invented scan.json with a long trace, names that have to be escaped, and a failed machine-code check.
function oddScan() {
  const n = 1_000_000, x = [...Array(n).keys()], y = x.map(i => 100 + (i % 7) + (i === 654321 ? 5000 : 0));
  const trace = {
    name: 'caches/long </script>',
    experiment: 'caches',
    columns: [{name: 'load', unit: '', values: x}, {name: 'a<b', unit: 'cycles', values: y}],
    plot: {title: 'A million loads & </script><b>', x: 'load', y: ['a<b'], log_x: false, log_y: false}
  };
  const estimate =
    {path: 'caches.l1.latency', verdict: 'decided', value: 30, method: 'caches: made up', confidence: 0.9};
  const check =
    {kernel: 'chase', result: 'failed', expected: '8 x LDG', found: '7', listing: 'LDG.E R2, [R2]\n<nothing>'};
  return {
    schema: 'gputomo-scan-1',
    device: {name: 'Odd <GPU>', id: 'sim:odd'},
    options: {seed: 1, quick: false},
    experiments: [{
      id: 'caches',
      status: 'done',
      seconds: 1,
      estimates: [estimate],
      warnings: ['made <up>'],
      code_checks: [check],
      traces: [trace]
    }]
  };
}

/// Writes the pages into `folder` and returns them: each with the plots that it must have, whether it is the report of a
/// GPU, and what has to be read on its first screen. Of a brief one, plots are not drawn and nothing is printed. With
/// `quick` those that take long are left out.
export async function makePages(program, folder, quick) {
  mkdirSync(folder, {recursive: true});
  const at = name => path.join(folder, name), recorded = name => path.join(recordings, name);
  const gputomo = (...options) => run(program, options);
  const surface = access => ['--surface', recorded(`h200-surface-${access}.json.gz`)];
  writeFileSync(at('odd.json'), JSON.stringify(oddScan()));
  const everywhere = [
    'outstanding/unique_x1', 'latency_map/map', 'control_flow/timeline', 'caches/near_latencies', 'caches/far',
    'constant_caches/levels', 'barriers/latency'
  ];
  const pages = [
    {
      name: 'h200',
      made: gputomo(
        'report', recorded('h200-scan-1.json.gz'),
        ...(quick ? ['sfu'] : ['global', 'l2', 'l1', 'shared', 'sfu']).flatMap(surface), '--out', at('h200.html')),
      file: at('h200.html'),
      gpu: true,
      models: true,
      first: ['L1 capacity', 'L1 latency', 'as one SM sees it', 'L2 in all', 'warps with', 'undecided'],
      wanted: [...everywhere, 'caches/l1_overfill', 'models/sfu_needed', 'models/sfu_alpha_512']
    },
    {
      name: 'h100',
      made: gputomo('report', recorded('h100-scan-2.json.gz'), '--out', at('h100.html')),
      file: at('h100.html'),
      gpu: true,
      brief: quick,
      first: ['on tensor cores', 'TFLOP/s', 'L2 in all', 'warps with', 'undecided'],
      wanted: [...everywhere, 'warpgroup_products/products']
    },
    {
      name: 'odd',
      made: gputomo('report', at('odd.json'), '--out', at('odd.html')),
      file: at('odd.html'),
      gpu: true,
      first: ['L1 latency'],
      wanted: []
    },
    {
      name: 'compared',
      made: gputomo(
        'report', ...comparedMachines().map(f => path.join(machines, f)),
        ...surface('global'), '--out', at('compared.html')),
      file: at('compared.html'),
      wanted: ['trends/cusp']
    },
    {
      name: 'answer',
      made: gputomo(
        'predict', path.join(fixtures, 'advice/coalesced.cubin'), '--kernel', 'coalesced', '--machine', 'h200', '--grid',
        quick ? '32' : '1056', '--block', '256', '--arg', 'buf:1081344', '--arg', 'buf:69206016', '--html',
        at('answer.html')),
      file: at('answer.html')
    }
  ];
  if (!quick) {
    pages.push(
      {
        name: 'gtx280',
        made: gputomo('scan', '--device', 'sim:gtx280', '--quiet', '--out', at('gtx280')),
        file: at('gtx280/report.html'),
        gpu: true,
        first: ['warps with'],
        wanted: [...everywhere, 'constant_caches/constant_l1_trace', 'outstanding/thread_latency']
      },
      {
        name: 'program',
        made: gputomo('predict', path.join(fixtures, 'sgemm'), '--machine', 'h200', '--html', at('program.html')),
        file: at('program.html')
      });
    const made = gputomo('reproduce', 'wong2010', '--only', 'wong2010.sec4f', '--quiet', '--out', at('papers'))
                   .catch(error => {
                     if (error.code !== 1) throw error;  // 1: a value differs
                   });
    pages.push(
      {name: 'paper', made, file: at('papers/wong2010.html')}, {name: 'papers', made, file: at('papers/index.html')});
  }
  await Promise.all(pages.map(page => page.made));
  return pages;
}
