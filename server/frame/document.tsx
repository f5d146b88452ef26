import type { ComponentChildren, VNode } from 'preact';
import { assetPath, type AssetName } from './assets.ts';
import { TopBar } from './top-bar.tsx';

/** A complete page for browsers: its head, the bar at the top, and the content. */
export function Document({
  title,
  path,
  styles,
  scripts,
  htmxConfig,
  children,
}: {
  title: string;
  path: string;
  /** Added to the styles and scripts that every page has. */
  styles: readonly AssetName[];
  scripts: readonly AssetName[];
  htmxConfig?: string;
  children: ComponentChildren;
}): VNode {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {htmxConfig === undefined ? null : <meta name="htmx-config" content={htmxConfig} />}
        <title>{`${title} · Daybook`}</title>
        <link rel="icon" href={assetPath('icon.svg')} type="image/svg+xml" />
        {(['base.css', ...styles] as const).map((name) => (
          <link key={name} rel="stylesheet" href={assetPath(name)} />
        ))}
        {scripts.map((name) => (
          <script key={name} src={assetPath(name)} defer />
        ))}
      </head>
      <body>
        <TopBar path={path} />
        {children}
      </body>
    </html>
  );
}
