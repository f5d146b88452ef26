import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, onTestFinished } from 'vitest';
import { ensureChromium } from '../../scripts/chromium.mjs';

/** A headless Chromium for the test file that calls it at its top. Each page has a profile of its own. */
export async function launchBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: await ensureChromium({ report: () => undefined }),
    headless: true,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
  afterAll(() => browser.close());
  return { browser, open: (url, options) => open(browser, url, options) };
}

export interface TestBrowser {
  readonly browser: Browser;
  /** Opens a page until the end of the test. */
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<Page>;
}

async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(url);
  return page;
}
