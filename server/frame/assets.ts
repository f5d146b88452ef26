import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';

const files = {
  'base.css': { type: 'text/css; charset=utf-8', from: ours('base.css') },
  'console.css': { type: 'text/css; charset=utf-8', from: ours('console.css') },
  'console.js': { type: 'text/javascript; charset=utf-8', from: ours('console.js') },
  'icon.svg': { type: 'image/svg+xml', from: ours('icon.svg') },
  'htmx.js': {
    type: 'text/javascript; charset=utf-8',
    from: createRequire(import.meta.url).resolve('htmx.org/dist/htmx.min.js'),
  },
  'dashboard.css': { type: 'text/css; charset=utf-8', from: ours('dashboard.css') },
  'draw-chart.js': { type: 'text/javascript; charset=utf-8', from: ours('draw-chart.js') },
  'dashboard.js': { type: 'text/javascript; charset=utf-8', from: ours('dashboard.js') },
  // Bars, lines and their axes: two thirds of the whole library.
  'echarts.js': {
    type: 'text/javascript; charset=utf-8',
    from: createRequire(import.meta.url).resolve('echarts/dist/echarts.common.min.js'),
  },
} as const;

export type AssetName = keyof typeof files;

const contents = Object.fromEntries(
  Object.entries(files).map(([name, { type, from }]) => [name, { type, content: readFileSync(from) }]),
);

/** Registers the files that pages need. Their addresses change with the content, so browsers may cache them forever. */
export function registerAssets(server: FastifyInstance): void {
  for (const [name, { type, content }] of Object.entries(contents)) {
    server.get(`/assets/${name}`, (_request, reply) =>
      reply.type(type).header('cache-control', 'private, max-age=31536000, immutable').send(content),
    );
  }
}

export function assetPath(name: AssetName): string {
  const content = contents[name]?.content ?? '';
  return `/assets/${name}?v=${createHash('sha256').update(content).digest('hex').slice(0, 12)}`;
}

/** Returns the text of an asset, for a page that has to be self-contained. */
export function assetText(name: AssetName): string {
  return contents[name]?.content.toString('utf8') ?? '';
}

function ours(name: string): URL {
  return new URL(`assets/${name}`, import.meta.url);
}
