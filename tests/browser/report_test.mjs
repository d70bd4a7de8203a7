// Opens reports in headless Chromium: node report_test.mjs GPUTOMO FOLDER. Makes them with GPUTOMO and leaves screenshots in FOLDER.
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [program, folder] = process.argv.slice(2);
const machines = fileURLToPath(new URL('../../machines', import.meta.url));
let failures = 0;
function expect(what, holds, found = '') {
  if (!holds) ++failures;
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${what}${holds || found === '' ? '' : `: ${found}`}`);
}

/// A scan.json that no GPU made: a long trace, names that need care, a failed machine-code check.
function oddScan() {
  const n = 1_000_000, x = [...Array(n).keys()], y = x.map(i => 100 + (i % 7) + (i === 654321 ? 5000 : 0));
  const trace = { name: 'caches/long </script>', experiment: 'caches', columns: [{ name: 'load', unit: '', values: x }, { name: 'a<b', unit: 'cycles', values: y }],
    plot: { title: 'A million loads & </script><b>', x: 'load', y: ['a<b'], log_x: false, log_y: false } };
  const estimate = { path: 'caches.l1.latency', verdict: 'decided', value: 30, method: 'caches: made up', confidence: 0.9 };
  const check = { kernel: 'chase', result: 'failed', expected: '8 x LDG', found: '7', listing: 'LDG.E R2, [R2]\n<nothing>' };
  return { schema: 'gputomo-scan-1', device: { name: 'Odd <GPU>', id: 'sim:odd' }, options: { seed: 1, quick: false },
    experiments: [{ id: 'caches', status: 'done', seconds: 1, estimates: [estimate], warnings: ['made <up>'], code_checks: [check], traces: [trace] }] };
}

function makeReports() {
  mkdirSync(folder, { recursive: true });
  const scan = path.join(folder, 'gtx280'), odd = path.join(folder, 'odd.json');
  execFileSync(program, ['scan', '--device', 'sim:gtx280', '--quiet', '--out', scan], { stdio: 'ignore' });
  writeFileSync(odd, JSON.stringify(oddScan()));
  const reports = { gtx280: path.join(scan, 'report.html'), odd: path.join(folder, 'odd.html'), h200: path.join(folder, 'h200.html') };
  execFileSync(program, ['report', odd, '--out', reports.odd]);
  execFileSync(program, ['report', path.join(machines, 'h200.json'), '--out', reports.h200]);
  return reports;
}

async function drawEveryPlot(page) {
  await page.evaluate(() => document.querySelectorAll('details').forEach(d => { d.open = true; }));
  for (const plot of await page.locator('.plot').all()) {
    await plot.scrollIntoViewIfNeeded();
    await plot.locator('svg.marks').waitFor({ timeout: 10_000 });
  }
}

const sidewaysOf = page => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

async function look(browser, name, file) {
  const errors = [];
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true });
  const page = await context.newPage();
  page.on('console', message => { if (['error', 'warning'].includes(message.type())) errors.push(message.text()); });
  page.on('pageerror', error => errors.push(String(error)));
  const started = Date.now();
  await page.goto(pathToFileURL(file).href, { waitUntil: 'load' });
  const seconds = (Date.now() - started) / 1000;
  expect(`${name}: opens within 2 s`, seconds < 2, seconds);
  expect(`${name}: under 8 MB`, statSync(file).size < 8 << 20, statSync(file).size);
  expect(`${name}: the GPU is drawn`, await page.locator('.wide svg.gpu .box').count() > 0 && await page.locator('.wide svg.gpu').isVisible());
  await page.screenshot({ path: path.join(folder, `${name}-light.png`) });

  const dead = await page.evaluate(() => [...document.querySelectorAll('a[href]:not(.vega-embed a)')].map(a => a.getAttribute('href')).filter(h => !h.startsWith('#') || !document.getElementById(h.slice(1))));
  expect(`${name}: every link leads somewhere`, dead.length === 0, dead.slice(0, 5));
  const ids = await page.evaluate(() => { const all = [...document.querySelectorAll('[id]')].map(e => e.id); return all.length - new Set(all).size; });
  expect(`${name}: ids are unique`, ids === 0, ids);

  const zooms = readFileSync(file, 'utf8').includes('vegaEmbed');
  if (zooms) await drawEveryPlot(page);
  expect(`${name}: every plot has a picture`, await page.evaluate(() => [...document.querySelectorAll('.plot')].every(p => p.querySelector('svg path, svg circle'))));
  if (zooms) await zoom(page, name);

  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForTimeout(500);
  const colours = await page.evaluate(() => { const s = getComputedStyle(document.body); return [s.color, s.backgroundColor].map(c => c.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)); });
  expect(`${name}: dark is light on dark`, colours[0] > 500 && colours[1] < 150, colours);
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: path.join(folder, `${name}-dark.png`) });
  await page.emulateMedia({ colorScheme: 'light' });

  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForTimeout(500);
  expect(`${name}: nothing runs out sideways at 360 px`, await sidewaysOf(page) <= 0, await sidewaysOf(page));
  expect(`${name}: the narrow picture is shown at 360 px`, await page.locator('.narrow svg.gpu').isVisible());
  await page.screenshot({ path: path.join(folder, `${name}-phone.png`), clip: { x: 0, y: 0, width: 360, height: 1500 }, fullPage: true });
  expect(`${name}: no console errors`, errors.length === 0, errors.slice(0, 3).join(' | '));
  await context.close();
}

/// Ctrl and the wheel change the axis of the first plot.
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

const reports = makeReports();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
for (const [name, file] of Object.entries(reports)) await look(browser, name, file);
await browser.close();
console.log(failures === 0 ? 'all passed' : `${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
