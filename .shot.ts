import { launchBrowser } from './bench/harness/browser.ts';
import { readFileSync } from 'node:fs';
const key = readFileSync('/tmp/d1.key','utf8').trim();
const base = 'http://127.0.0.1:8932/ui/';
const [only='', ...rest] = process.argv.slice(2);
const at = `project=${encodeURIComponent('demo/shop')}`;
const hdr = { authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`, 'content-type': 'application/json' };
const dash = await (await fetch('http://127.0.0.1:8931/objs/query',{method:'POST',headers:hdr,body:JSON.stringify({project_id:'demo/shop',filter:{base_object_classes:['Dashboard'],latest_only:true}})})).json() as any;
const did = dash.objs[0]?.object_id ?? '';
const views: [string,string,string?][] = [
  ['overview', `overview?${at}&range=7d`],
  ['overview-filtered', `overview?${at}&range=7d&roots=true`],
  ['overview-score', `overview?${at}&range=7d&by=score&score=${encodeURIComponent('feedback.[thumbs].payload.up')}&split=true`],
  ['scores', `scores?${at}`],
  ['score-number', `scores?${at}&score=${encodeURIComponent('feedback.[evaluation.helpful].payload.value')}`],
  ['score-truth', `scores?${at}&score=${encodeURIComponent('feedback.[evaluation.in_time].payload.value')}`],
  ['score-label', `scores?${at}&score=${encodeURIComponent('feedback.[topic].payload.value')}`],
  ['dashboards', `dashboards?${at}`],
  ['dashboard', `dashboards?${at}&dashboard=${did}&range=7d`],
  ['dashboard-edit', `dashboards?${at}&dashboard=${did}&range=7d`, 'edit'],
  ['keep', `overview?${at}&range=7d`, 'keep'],
];
const launched = await launchBrowser();
const browser: any = (launched as any).browser ?? launched;
const widths = rest.length ? rest.map(Number) : [1440];
for (const scheme of (process.env.SCHEMES ?? 'light').split(',') as ('light'|'dark')[])
for (const width of widths) {
  const context = await browser.newContext({ viewport: { width, height: width < 500 ? 844 : 900 }, colorScheme: scheme });
  await context.addInitScript((k: string) => sessionStorage.setItem('pennytrace.key', k), key);
  for (const [name, path, act] of views.filter(([n]) => only === '' || only.split(',').includes(n))) {
    const page = await context.newPage();
    page.on('console', (m: any) => { if (m.type() === 'error') console.log(name, m.text()); });
    page.on('pageerror', (e: any) => console.log(name, 'ERR', e.message));
    await page.goto(base + path);
    await page.locator('h1').first().waitFor();
    await page.waitForLoadState('networkidle');
    if (act === 'edit') { await page.getByRole('button', { name: 'Edit' }).click(); }
    if (act === 'keep') { await page.getByRole('button', { name: 'Keep Calls on a dashboard' }).click(); }
    await page.waitForTimeout(500);
    const h = await page.evaluate(`(() => { const m = document.querySelector('.view-place, main'); return Math.max(...[...document.querySelectorAll('*')].map(e => e.scrollHeight > e.clientHeight + 1 && ['auto','scroll'].includes(getComputedStyle(e).overflowY) ? e.scrollHeight : 0), document.documentElement.scrollHeight); })()`);
    await page.setViewportSize({ width, height: Math.min(3200, Number(h) + 60) });
    await page.waitForTimeout(900);
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(300);
    await page.screenshot({ path: `/tmp/d1/${name}-${width}-${scheme}.png` });
    await page.close();
  }
}
await browser.close();
