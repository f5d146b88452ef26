import type { VNode } from 'preact';
import { paths } from './paths.ts';

const sections = [
  { name: 'Overview', path: paths.overview() },
  { name: 'Dashboard', path: paths.dashboard() },
  { name: 'Runs', path: paths.runs() },
  { name: 'Quarantine', path: paths.quarantine() },
  { name: 'Discrepancies', path: paths.discrepancies() },
  { name: 'Snapshots', path: paths.snapshots() },
  { name: 'Webhooks', path: paths.webhooks() },
  { name: 'Alerts', path: paths.alerts() },
];

/** The current page, and links to the other ones. */
export function TopBar({ path }: { path: string }): VNode {
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={paths.overview()}>
          Daybook
        </a>
        <nav aria-label="Sections">
          {sections.map((section) => (
            <a
              key={section.path}
              href={section.path}
              aria-current={path.split('?')[0] === section.path ? 'page' : undefined}
            >
              {section.name}
            </a>
          ))}
        </nav>
      </header>
    </>
  );
}
