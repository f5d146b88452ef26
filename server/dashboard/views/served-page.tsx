import type { ComponentChildren, VNode } from 'preact';
import { Document } from '../../frame/document.tsx';

/** The dashboard in the console: unlike other pages it does not refresh, since marts change only when they are built. */
export function ServedPage({ path, children }: { path: string; children: ComponentChildren }): VNode {
  return (
    <Document
      title="Dashboard"
      path={path}
      styles={['dashboard.css']}
      scripts={['echarts.js', 'draw-chart.js', 'dashboard.js']}
    >
      {children}
    </Document>
  );
}
