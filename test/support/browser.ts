import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { ensureChromium } from '../../scripts/chromium.mjs';

/** Shared by every test file of the process, and closed when the process ends. */
let launched: Promise<Browser> | undefined;

/** Launches a headless Chromium; each page gets a profile of its own. */
export async function launchBrowser(): Promise<TestBrowser> {
  launched = launched?.then((known) => (known.isConnected() ? known : launch())) ?? launch();
  const browser = await launched;
  return { browser, open: (url, options) => open(browser, url, options) };
}

async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: await ensureChromium({ report: () => undefined }),
    headless: true,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
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
