// Opens reports in headless Chromium: node report_test.mjs GPUTOMO FOLDER [--quick]. GPUTOMO is the executable that
// makes the reports. They and their screenshots stay in FOLDER. With --quick, pages that take long to make are left out,
// and of each kind of plot one is drawn.
import {chromium} from 'playwright-core';
import {existsSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {clippedTexts, repeatedTitles, sideways} from './checks.mjs';
import {makePages} from './pages.mjs';

const [program, folder, mode] = process.argv.slice(2);
const quick = mode === '--quick';
/// Most seconds for a page to open. The quick test gets more, because other tests run beside it.
const kPatience = quick ? 20 : 5;
/// Most pixels of a report's height before anything is opened, at 1280 and at 390 pixels of width.
const kHeight = 12_000;
/// Most sheets of paper of a printed report.
const kSheets = 60;
let failures = 0;
function expect(what, holds, found = '') {
  if (!holds) ++failures;
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${what}${holds || found === '' ? '' : `: ${found}`}`);
}

const heightOf = page => page.evaluate(() => document.documentElement.scrollHeight);

/// Opens each section and waits until its plots are drawn: every plot, or in the quick test the first of each kind.
async function drawPlots(page) {
  const plots = await page.evaluate(quick => {
    document.querySelectorAll('details').forEach(d => {
      d.open = true;
    });
    const kinds = new Set();
    return [...document.querySelectorAll('.plot')]
      .map((plot, i) => {
        const text = plot.nextElementSibling.textContent;
        const kind = ['"shade"', '"until"', '"models"', '"split":true'].map(k => text.includes(k)).join();
        const first = !kinds.has(kind);
        kinds.add(kind);
        return first || !quick ? i : -1;
      })
      .filter(i => i >= 0);
  }, quick);
  for (const i of plots) {
    const plot = page.locator('.plot').nth(i);
    await plot.scrollIntoViewIfNeeded();
    await plot.locator('svg.marks').waitFor({timeout: 30_000});
  }
}

/// Ticks a model's box with the keyboard; the model must then be drawn over the measurement.
async function chooseModel(page, name) {
  const box = page.locator("input[data-model='roofline']"), plot = page.locator('.plot[data-models]').first();
  const lines = async () => (await plot.locator('.role-legend-label').allTextContents()).join();
  await plot.scrollIntoViewIfNeeded();
  await plot.locator('svg.marks').waitFor();
  const before = await lines();
  await box.focus();
  await page.keyboard.press('Space');
  await plot.locator('.role-legend-label', {hasText: 'roofline'}).waitFor({timeout: 10_000}).catch(() => {});
  expect(
    `${name}: our model is drawn at first`, before.includes('gputomo-replay') && !before.includes('roofline'), before);
  expect(`${name}: the keyboard chooses another model`, (await lines()).includes('roofline'), await lines());
}

/// Whether the page that a relative link names exists, and has the element after the #.
function existsBeside(file, link) {
  const [name, id] = link.split('#'), other = path.join(path.dirname(file), name);
  return existsSync(other) && (id === undefined || readFileSync(other, 'utf8').includes(`id='${id}'`));
}

/// Links that lead nowhere, and ids that two elements have.
async function checkLinks(page, name, file) {
  const {links, ids} = await page.evaluate(
    () => ({
      links: [...document.querySelectorAll('a[href]:not(.vega-embed a)')].map(a => a.getAttribute('href')),
      ids: [...document.querySelectorAll('[id]')].map(e => e.id)
    }));
  const here = new Set(ids);
  const dead = links.filter(h => h.startsWith('#') ? !here.has(h.slice(1)) : !existsBeside(file, h));
  expect(`${name}: every link leads somewhere`, dead.length === 0, dead.slice(0, 5));
  expect(`${name}: ids are unique`, ids.length === here.size, ids.length - here.size);
}

/// What a reader with two minutes finds: a short page, the menu, the first screen, and the search.
async function checkFirstScreen(page, name, first) {
  expect(`${name}: at most ${kHeight} px high`, await heightOf(page) <= kHeight, await heightOf(page));
  expect(
    `${name}: the GPU is drawn`,
    await page.locator('.wide svg.gpu .box').count() > 0 && await page.locator('.wide svg.gpu').isVisible());
  const seen = await page.evaluate(
    () => [...document.querySelectorAll('.card')].filter(c => c.getBoundingClientRect().bottom <= innerHeight)
            .map(c => c.innerText).join(' | '));
  for (const words of first) expect(`${name}: the first screen says "${words}"`, seen.includes(words), seen);
  if (await heightOf(page) > 1200) {
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    const menu = await page.locator('.bar').boundingBox();
    expect(`${name}: the menu stays in view`, menu !== null && menu.y >= -1 && menu.y < 10, menu?.y);
    await page.evaluate(() => scrollTo(0, 0));
  }

  const search = page.locator('#search'), found = page.locator('#found a');
  const leaf = page.locator("tr[id='leaf-caches.l1.latency']");
  await search.fill('l1 latency');
  expect(`${name}: the search finds a value`, (await found.allTextContents()).some(t => t.startsWith('caches.l1.latency ')));
  expect(`${name}: the value is in a closed section`, !await leaf.isVisible());
  await search.fill('qqxxzz');
  expect(`${name}: the search says that it finds nothing`, await page.locator('#found p').isVisible());
  await search.fill('caches.l1.latency');
  await page.keyboard.press('Enter');
  expect(`${name}: the search opens the section of a value`, await leaf.isVisible());
  const place = await leaf.boundingBox();
  expect(`${name}: and scrolls to it`, place !== null && place.y > 0 && place.y < 900, place?.y);
  await search.fill('');
}

/// Printing opens the sections and closes them again; nothing is wider than the paper.
async function checkPrint(page, name) {
  const open = () => page.evaluate(() => document.querySelectorAll('details.part[open]').length);
  await page.evaluate(() => document.querySelectorAll('details').forEach(d => {
    d.open = false;
  }));
  const paper = await page.pdf({format: 'A4', path: path.join(folder, `${name}.pdf`)});
  const sheets = paper.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
  expect(`${name}: prints on 1 to ${kSheets} sheets`, sheets >= 1 && sheets <= kSheets, sheets);
  expect(`${name}: sections are closed after printing`, await open() === 0, await open());
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const parts = await page.locator('details.part').count();
  expect(`${name}: printing opens all sections`, await open() === parts, `${await open()} of ${parts}`);
  await page.emulateMedia({media: 'print'});
  await page.setViewportSize({width: 720, height: 1000});
  const over = await page.evaluate(sideways);
  expect(`${name}: nothing is wider than the paper`, over.length === 0, over);
  const menu = await page.locator('.bar').isVisible().catch(() => false);
  expect(`${name}: the menu is not printed`, !menu);
  await page.emulateMedia({media: 'screen'});
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
}

async function checkDark(page, name) {
  await page.evaluate(() => {
    scrollTo(0, 0);
    document.querySelectorAll('details').forEach(d => {
      d.open = false;
    });
  });
  await page.emulateMedia({colorScheme: 'dark'});
  const colours = await page.evaluate(() => {
    const s = getComputedStyle(document.body);
    return [s.color, s.backgroundColor].map(c => c.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0));
  });
  expect(`${name}: dark is light on dark`, colours[0] > 500 && colours[1] < 150, colours);
  await page.screenshot({path: path.join(folder, `${name}-dark.png`)});
  await page.emulateMedia({colorScheme: 'light'});
}

/// Plots in view are drawn again a moment after the page's width changes.
async function settled(page) {
  await page.waitForTimeout(150);
  await page.waitForFunction(
    () => [...document.querySelectorAll('.plot[data-drawn]')]
            .filter(p => {
              const box = p.getBoundingClientRect();
              return p.checkVisibility() && box.bottom > 0 && box.top < innerHeight;
            })
            .every(p => p.dataset.drawn === String(innerWidth)),
    undefined, {timeout: 20_000});
}

/// The page as it opens on a phone, and with every section open.
async function checkPhone(page, name, gpu, brief) {
  await page.setViewportSize({width: 390, height: 844});
  for (const open of brief ? [false] : [false, true]) {
    await page.evaluate(open => {
      scrollTo(0, 0);
      document.querySelectorAll('details').forEach(d => {
        d.open = open;
      });
    }, open);
    const state = open ? 'open' : 'closed';
    await settled(page);
    const over = await page.evaluate(sideways), cut = await page.evaluate(clippedTexts);
    expect(`${name}: nothing runs out sideways at 390 px, ${state}`, over.length === 0, over);
    expect(`${name}: no text is cut at 390 px, ${state}`, cut.length === 0, cut.join(' | '));
    if (open || !gpu) continue;
    expect(`${name}: at most ${kHeight} px high at 390 px`, await heightOf(page) <= kHeight, await heightOf(page));
    expect(`${name}: the narrow picture is shown at 390 px`, await page.locator('.narrow svg.gpu').isVisible());
    await page.screenshot({path: path.join(folder, `${name}-phone.png`)});
  }
}

async function look(browser, {name, file, gpu, models, brief, first = [], wanted = []}) {
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
  await page.screenshot({path: path.join(folder, `${name}-light.png`)});
  await checkLinks(page, name, file);
  if (gpu) await checkFirstScreen(page, name, first);
  await keyboard(page, name);

  const zooms = readFileSync(file, 'utf8').includes('vegaEmbed');
  if (zooms && !brief) await drawPlots(page);
  for (const plot of wanted)
    expect(`${name}: has ${plot}`, await page.locator(`[id='trace-${plot.replace('/', '~2f')}'] svg`).count() > 0);
  expect(
    `${name}: every plot has a picture`,
    await page.evaluate(
      () => [...document.querySelectorAll('.plot')].every(
        p => p.querySelector('svg path, svg circle, svg rect, svg polyline'))));
  if (gpu) {
    const bare = await page.evaluate(
      () => [...document.querySelectorAll('figure:has(.plot)')].filter(f => !f.querySelector('.finding')).map(f => f.id));
    expect(`${name}: every chart says its finding`, bare.length === 0, bare);
    const repeated = await page.evaluate(repeatedTitles);
    expect(`${name}: no two charts have the same words`, repeated.length === 0, repeated.join(' || '));
  }
  const cut = await page.evaluate(clippedTexts);
  expect(`${name}: no text is cut`, cut.length === 0, cut.join(' | '));
  if (zooms && !brief) await zoom(page, name);
  if (zooms && models) await chooseModel(page, name);
  await checkDark(page, name);
  await checkPhone(page, name, gpu, brief);
  if (!brief && (gpu || name === 'answer')) await checkPrint(page, name);
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
  await plot.locator('svg.marks').waitFor({timeout: 30_000});
  const ticks = () => plot.locator('.role-axis-label').allTextContents();
  const before = JSON.stringify(await ticks()), box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 120);
  await page.keyboard.down('Control');
  for (let i = 0; i < 4; ++i) await page.mouse.wheel(0, -200);
  await page.keyboard.up('Control');
  await page
    .waitForFunction(
      before => JSON.stringify([...document.querySelectorAll('.plot')[0].querySelectorAll('.role-axis-label')].map(
                  e => e.textContent)) !== before,
      before, {timeout: 5000})
    .catch(() => {});
  expect(`${name}: a plot zooms`, JSON.stringify(await ticks()) !== before, before);
}

const started = Date.now();
const [pages, browser] = await Promise.all([
  makePages(program, folder, quick),
  chromium.launch(
    {executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']})
]);
const made = Date.now();
// Two pages at a time: more of them wait for each other's drawing.
const waiting = [...pages];
await Promise.all([0, 1].map(async () => {
  for (let page = waiting.shift(); page; page = waiting.shift()) await look(browser, page);
}));
await browser.close();
console.log(`${((made - started) / 1000).toFixed(1)} s for the pages, ${((Date.now() - made) / 1000).toFixed(1)} s to look`);
console.log(failures === 0 ? 'all passed' : `${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
