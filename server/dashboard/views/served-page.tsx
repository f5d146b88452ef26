import type { ComponentChildren, VNode } from 'preact';
import { Document } from '../../frame/document.tsx';

/** The dashboard inside the console. It does not refresh like other pages, since marts change only when they are built. */
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
