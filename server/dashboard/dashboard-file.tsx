import { createHash } from 'node:crypto';
import { renderToString } from 'preact-render-to-string';
import { assetText } from '../frame/assets.ts';
import type { Dashboard } from './read-dashboard.ts';
import { utcMinute } from './utc-minute.ts';
import { DashboardMain } from './views/dashboard-main.tsx';

/** Returns the dashboard as one HTML file that loads and sends nothing: its policy allows only what is inline. */
export function dashboardFile(dashboard: Dashboard): string {
  const style = `${assetText('base.css')}\n${assetText('dashboard.css')}`;
  const scripts = scriptNames.map((name) => withoutEnd(assetText(name)));
  const madeAt = `${utcMinute(dashboard.readAt.toISOString().replace('T', ' '))} UTC`;
  const policy = `default-src 'none'; script-src ${scripts.map(hashOf).join(' ')}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="content-security-policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`Daybook dashboard of ${dashboard.asOf}`}</title>
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="top">
          <span class="brand">Daybook</span>
          <p class="aside">A copy, made {madeAt}. It does not change.</p>
        </header>
        <DashboardMain dashboard={dashboard} query={new URLSearchParams()} />
        {scripts.map((script) => (
          <script dangerouslySetInnerHTML={{ __html: script }} />
        ))}
      </body>
    </html>,
  )}`;
}

const scriptNames = ['echarts.js', 'draw-chart.js', 'dashboard.js'] as const;

/** Escapes the tag that would end the element early. */
function withoutEnd(script: string): string {
  return script.replaceAll('</script', '<\\/script');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
