// Opens reports in headless Chromium: node report_test.mjs GPUTOMO FOLDER [--quick]. GPUTOMO is the executable that
// makes the reports. They and their screenshots stay in FOLDER. With --quick only some experiments are scanned.
import {chromium} from 'playwright-core';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const [program, folder, mode] = process.argv.slice(2);
const quick = mode === '--quick';
/// Most seconds for a page to open. The quick test gets more, because other tests run beside it.
const kPatience = quick ? 10 : 2;
const machines = fileURLToPath(new URL('../../machines', import.meta.url)),
      recordings = fileURLToPath(new URL('../../recordings', import.meta.url));
let failures = 0;
function expect(what, holds, found = '') {
  if (!holds) ++failures;
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${what}${holds || found === '' ? '' : `: ${found}`}`);
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

/// The pages that `gputomo` writes, each with the plots that it must have and whether it shows a picture of the GPU.
function makePages() {
  mkdirSync(folder, {recursive: true});
  const at = name => path.join(folder, name),
        gputomo = (...options) => execFileSync(program, options, {stdio: 'ignore'});
  const machine = name => path.join(machines, name);
  gputomo(
    'scan', '--device', 'sim:gtx280', '--quiet', '--out', at('gtx280'),
    ...(quick ? ['--only', 'shared_latency,control_flow,register_file'] : []));
  writeFileSync(at('odd.json'), JSON.stringify(oddScan()));
  gputomo('report', at('odd.json'), '--out', at('odd.html'));
  const surface = access => ['--surface', path.join(recordings, `h200-surface-${access}.json.gz`)];
  gputomo(
    'report', path.join(recordings, 'h200-scan-3.json.gz'),
    ...(quick ? ['sfu'] : ['global', 'l2', 'l1', 'shared', 'sfu']).flatMap(surface), '--out', at('h200.html'));
  gputomo(
    'report', ...readdirSync(machines).filter(f => f.endsWith('.json')).slice(0, 10).map(machine), ...surface('global'),
    '--out', at('compared.html'));
  const fixture = name => fileURLToPath(new URL(`../answer/fixtures/${name}`, import.meta.url));
  gputomo(
    'predict', fixture('advice/coalesced.cubin'), '--kernel', 'coalesced', '--machine', 'h200', '--grid', '1056',
    '--block', '256', '--arg', 'buf:1081344', '--arg', 'buf:69206016', '--html', at('answer.html'));
  gputomo('predict', fixture('sgemm'), '--machine', 'h200', '--html', at('program.html'));
  try {
    gputomo('reproduce', 'wong2010', '--only', 'wong2010.sec4f', '--quiet', '--out', at('papers'));
  } catch (error) {
    if (error.status !== 1) throw error;  // 1: a value differs
  }
  const everywhere = [
    'outstanding/unique_x1', 'latency_map/map', 'control_flow/timeline', 'caches/near_latencies', 'caches/far',
    'constant_caches/levels', 'barriers/latency'
  ];
  return [
    {
      name: 'gtx280',
      file: at('gtx280/report.html'),
      gpu: true,
      wanted: quick ? ['control_flow/timeline', 'shared_latency/strides'] :
                      [...everywhere, 'constant_caches/constant_l1_trace', 'outstanding/thread_latency']
    },
    {name: 'odd', file: at('odd.html'), gpu: true, wanted: []}, {
      name: 'h200',
      file: at('h200.html'),
      gpu: true,
      wanted: [...everywhere, 'caches/l1_overfill', 'models/sfu_needed', 'models/sfu_alpha_512']
    },
    {name: 'compared', file: at('compared.html'), gpu: false, wanted: ['trends/cusp']},
    {name: 'answer', file: at('answer.html'), gpu: false},
    {name: 'program', file: at('program.html'), gpu: false},
    {name: 'paper', file: at('papers/wong2010.html'), gpu: false},
    {name: 'papers', file: at('papers/index.html'), gpu: false}
  ];
}

/// Scrolls to each plot and waits until it is drawn. The quick test takes one plot of each kind and experiment.
async function drawEveryPlot(page) {
  await page.evaluate(() => document.querySelectorAll('details').forEach(d => {
    d.open = true;
  }));
  const seen = new Set();
  for (const plot of await page.locator('.plot').all()) {
    const experiment = (await plot.getAttribute('data-name')).split('~2f')[0],
          kind = await plot.locator('..').locator('script').textContent().then(
            t => [t.includes('"shade"'), t.includes('"until"'), t.includes('"models"')].join());
    if (quick && seen.has(experiment + kind)) continue;
    seen.add(experiment + kind);
    await plot.scrollIntoViewIfNeeded();
    await plot.locator('svg.marks').waitFor({timeout: 30_000});
  }
}

/// Ticks a model's box with the keyboard; the model must then be drawn over the measurement.
async function chooseModel(page, name) {
  const box = page.locator("input[data-model='roofline']"), plot = page.locator('.plot[data-models]').first();
  if (await box.count() === 0) return;
  const lines = async () => (await plot.locator('.role-legend-label').allTextContents()).join();
  await plot.scrollIntoViewIfNeeded();
  await plot.locator('svg.marks').waitFor();
  const before = await lines();
  await box.focus();
  await page.keyboard.press('Space');
  await page.waitForTimeout(500);
  expect(
    `${name}: our model is drawn at first`, before.includes('gputomo-replay') && !before.includes('roofline'), before);
  expect(`${name}: the keyboard chooses another model`, (await lines()).includes('roofline'), await lines());
}

/// Whether the page that a relative link names exists, and has the element after the #.
function existsBeside(file, link) {
  const [name, id] = link.split('#'), other = path.join(path.dirname(file), name);
  return existsSync(other) && (id === undefined || readFileSync(other, 'utf8').includes(`id='${id}'`));
}

const sidewaysOf = page =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function look(browser, {name, file, gpu, wanted = []}) {
  const errors = [];
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, offline: true});
  const page = await context.newPage();
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text());
  });
  page.on('pageerror', error => errors.push(String(error)));
  const started = Date.now();
  await page.goto(pathToFileURL(file).href, {waitUntil: 'load'});
  const seconds = (Date.now() - started) / 1000;
  expect(`${name}: opens within ${kPatience} s (${seconds})`, seconds < kPatience);
  expect(`${name}: under 8 MB (${(statSync(file).size / (1 << 20)).toFixed(1)})`, statSync(file).size < 8 << 20);
  if (gpu)
    expect(
      `${name}: the GPU is drawn`,
      await page.locator('.wide svg.gpu .box').count() > 0 && await page.locator('.wide svg.gpu').isVisible());
  await page.screenshot({path: path.join(folder, `${name}-light.png`)});

  const links = await page.evaluate(
    () => [...document.querySelectorAll('a[href]:not(.vega-embed a)')].map(a => a.getAttribute('href')));
  const here = new Set(await page.evaluate(() => [...document.querySelectorAll('[id]')].map(e => e.id)));
  const dead = links.filter(h => h.startsWith('#') ? !here.has(h.slice(1)) : !existsBeside(file, h));
  expect(`${name}: every link leads somewhere`, dead.length === 0, dead.slice(0, 5));
  const ids = await page.evaluate(() => {
    const all = [...document.querySelectorAll('[id]')].map(e => e.id);
    return all.length - new Set(all).size;
  });
  expect(`${name}: ids are unique`, ids === 0, ids);

  const zooms = readFileSync(file, 'utf8').includes('vegaEmbed');
  if (zooms) await drawEveryPlot(page);
  for (const plot of wanted)
    expect(`${name}: has ${plot}`, await page.locator(`[id='trace-${plot.replace('/', '~2f')}'] svg`).count() > 0);
  expect(
    `${name}: every plot has a picture`,
    await page.evaluate(
      () => [...document.querySelectorAll('.plot')].every(p => p.querySelector('svg path, svg circle'))));
  if (zooms) await zoom(page, name);
  await keyboard(page, name);
  if (zooms) await chooseModel(page, name);

  await page.emulateMedia({colorScheme: 'dark'});
  await page.waitForTimeout(500);
  const colours = await page.evaluate(() => {
    const s = getComputedStyle(document.body);
    return [s.color, s.backgroundColor].map(c => c.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
  });
  expect(`${name}: dark is light on dark`, colours[0] > 500 && colours[1] < 150, colours);
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({path: path.join(folder, `${name}-dark.png`)});
  await page.emulateMedia({colorScheme: 'light'});

  await page.setViewportSize({width: 360, height: 740});
  await page.waitForTimeout(500);
  expect(`${name}: nothing runs out sideways at 360 px`, await sidewaysOf(page) <= 0, await sidewaysOf(page));
  if (gpu) expect(`${name}: the narrow picture is shown at 360 px`, await page.locator('.narrow svg.gpu').isVisible());
  await page.screenshot(
    {path: path.join(folder, `${name}-phone.png`), clip: {x: 0, y: 0, width: 360, height: 1500}, fullPage: true});
  expect(`${name}: no console errors`, errors.length === 0, errors.slice(0, 3).join(' | '));
  await context.close();
}

/// Follows the first link, and switches the filter of differences, with the keyboard alone.
async function keyboard(page, name) {
  await page.evaluate(() => {
    scrollTo(0, 0);
    document.activeElement?.blur();
  });
  await page.keyboard.press('Tab');
  const link =
    await page.evaluate(() => document.activeElement?.getAttribute('href') ?? document.activeElement?.tagName);
  await page.keyboard.press('Enter');
  if (link?.startsWith('#'))
    expect(`${name}: the keyboard follows the first link`, await page.evaluate(() => location.hash) === link, link);
  else {
    await page.waitForURL(url => url.pathname.endsWith(link?.split('#')[0] ?? '?'), {timeout: 5000}).catch(() => {});
    expect(`${name}: the keyboard follows the first link`, page.url().endsWith(link), page.url());
    await page.goBack();
  }
  const filter = page.locator('#differences');
  if (await filter.count() === 0) return;
  const shown = () => page.evaluate(() => [...document.querySelectorAll('tr')].filter(r => r.checkVisibility()).length);
  const before = await shown();
  await filter.focus();
  await page.keyboard.press('Space');
  expect(`${name}: the filter hides what is the same`, await shown() < before, before);
  await page.keyboard.press('Space');
  expect(`${name}: the filter gives it back`, await shown() === before, before);
}

/// Turns the wheel with Ctrl over the first plot; its axis must change.
async function zoom(page, name) {
  const plot = page.locator('.plot').first();
  if (await page.locator('.plot').count() === 0) return;
  await plot.scrollIntoViewIfNeeded();
  const ticks = () => plot.locator('.role-axis-label').allTextContents();
  const before = JSON.stringify(await ticks()), box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 120);
  await page.keyboard.down('Control');
  for (let i = 0; i < 4; ++i) await page.mouse.wheel(0, -200);
  await page.keyboard.up('Control');
  await page.waitForTimeout(300);
  expect(`${name}: a plot zooms`, JSON.stringify(await ticks()) !== before, before);
}

const pages = makePages();
const browser = await chromium.launch(
  {executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']});
for (const page of pages) await look(browser, page);
await browser.close();
console.log(failures === 0 ? 'all passed' : `${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
