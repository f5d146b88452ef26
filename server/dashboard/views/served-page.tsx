import type { ComponentChildren, VNode } from 'preact';
import { assetPath } from '../../console/assets.ts';
import { TopBar } from '../../console/views/top-bar.tsx';

/** The frame of the dashboard in the console: unlike other pages it does not refresh, since marts change only when they are built. */
export function ServedPage({ path, children }: { path: string; children: ComponentChildren }): VNode {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Dashboard · Daybook</title>
        <link rel="icon" href={assetPath('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={assetPath('base.css')} />
        <link rel="stylesheet" href={assetPath('dashboard.css')} />
        <script src={assetPath('echarts.js')} defer />
        <script src={assetPath('draw-chart.js')} defer />
        <script src={assetPath('dashboard.js')} defer />
      </head>
      <body>
        <TopBar path={path} />
        {children}
      </body>
    </html>
  );
}
