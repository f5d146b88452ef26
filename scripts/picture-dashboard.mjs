import { chromium } from 'playwright-core';
import { ensureChromium } from './chromium.mjs';

/**
 * Makes the picture of the README from a dashboard that is served, for one after `npm start`:
 * node scripts/picture-dashboard.mjs http://127.0.0.1:8390/dashboard docs/dashboard.png
 */
const [url, file] = process.argv.slice(2);
const executablePath = await ensureChromium({ report: (text) => console.error(text) });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1200, height: 1180 }, colorScheme: 'light' });
await page.goto(`${url}?connection=acme-us&currency=USD`);
await page.locator('#ap-ageing svg').first().waitFor();
await page.screenshot({ path: file });
await browser.close();
