import type { ComponentChildren, VNode } from 'preact';
import { Document } from '../../frame/document.tsx';
import { Icon } from '../../frame/icon.tsx';
import type { Notice } from '../notice.ts';

/** The htmx settings: no scripts or styles of its own, and a failed refresh leaves the page as it is. */
const htmxConfig = JSON.stringify({
  includeIndicatorCSS: false,
  history: false,
  defaultTimeout: 10_000,
  noSwap: [204, 304, '4xx', '5xx'],
  // Keeps open what the user opened.
  morphIgnore: ['data-htmx-powered', 'open'],
});

/** The frame of every console page. With `refreshSeconds`, its main part is fetched again that often, and differences are replaced. */
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
    <Document
      title={title}
      path={path}
      styles={['console.css']}
      scripts={['htmx.js', 'console.js']}
      htmxConfig={htmxConfig}
    >
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
    </Document>
  );
}
