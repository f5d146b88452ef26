import type { ComponentChildren, VNode } from 'preact';
import { assetPath } from '../assets.ts';
import type { Notice } from '../notice.ts';
import { Icon } from './icon.tsx';
import { TopBar } from './top-bar.tsx';

/** What htmx may do here: no script, no style of its own, and a failed refresh leaves the page as it is. */
const htmxConfig = JSON.stringify({
  includeIndicatorCSS: false,
  history: false,
  defaultTimeout: 10_000,
  noSwap: [204, 304, '4xx', '5xx'],
  // What people opened stays open.
  morphIgnore: ['data-htmx-powered', 'open'],
});

/** The frame of every page. With `refreshSeconds` its main part is read again that often, and what differs is replaced. */
export function Layout({
  title,
  path,
  notice,
  refreshSeconds,
  children,
}: {
  title: string;
  path: string;
  notice?: Notice | undefined;
  refreshSeconds?: number;
  children: ComponentChildren;
}): VNode {
  const refresh =
    refreshSeconds === undefined
      ? {}
      : {
          'hx-get': path,
          'hx-trigger': `every ${refreshSeconds}s`,
          'hx-select': '#main',
          'hx-swap': 'outerMorph',
        };
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="htmx-config" content={htmxConfig} />
        <title>{`${title} · Daybook`}</title>
        <link rel="icon" href={assetPath('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={assetPath('base.css')} />
        <link rel="stylesheet" href={assetPath('console.css')} />
        <script src={assetPath('htmx.js')} defer />
        <script src={assetPath('console.js')} defer />
      </head>
      <body>
        <TopBar path={path} />
        <p id="connection-lost" class="lost" role="status" />
        {notice === undefined ? null : (
          <p class={`notice notice-${notice.kind}`} role={notice.kind === 'done' ? 'status' : 'alert'}>
            <Icon name={notice.kind === 'done' ? 'check' : 'warning'} />
            <span>{notice.text}</span>
          </p>
        )}
        <main id="main" tabIndex={-1} {...refresh}>
          {children}
        </main>
      </body>
    </html>
  );
}
