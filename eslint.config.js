import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

/** What is read and kept; steps, requests and commands are made of it. */
const data = ['source', 'warehouse', 'lake', 'python', 'iceberg', 'marts', 'resources'];

/**
 * Imports point one way only: each folder may import itself, `errors`, which holds what can be told of any error, and what is
 * listed here.
 * `sandbox` is the API's other side: it must not share logic with the client, or both would agree on the same mistake.
 */
const mayImport = {
  errors: [],
  // What has to run before the packages are installed; the few parts of it that the product needs too are not written twice.
  scripts: [],
  resources: [],
  temporal: [],
  config: ['scripts', 'lake', 'warehouse'],
  source: ['resources'],
  warehouse: ['resources'],
  lake: ['resources'],
  python: ['scripts', 'warehouse'],
  iceberg: ['scripts', 'lake', 'python', 'warehouse'],
  marts: ['scripts', 'lake', 'iceberg', 'python', 'warehouse', 'resources'],
  workflows: ['activities', 'requests', 'temporal'],
  requests: ['source', 'warehouse', 'resources'],
  activities: ['requests', 'temporal', ...data],
  operations: ['activities', 'requests', 'temporal', 'config', ...data],
  worker: ['operations', 'activities', 'requests', 'workflows', 'temporal', 'config', ...data],
  embedded: ['scripts', 'temporal', 'warehouse'],
  sandbox: [],
  server: ['operations', 'worker', 'temporal', 'config', 'source', 'warehouse', 'resources'],
  cli: [
    'server',
    'operations',
    'worker',
    'workflows',
    'temporal',
    'config',
    ...data,
    'embedded',
    'sandbox',
    'scripts',
  ],
};

const folders = Object.keys(mayImport);

function importDirection(folder) {
  const allowed = [folder, 'errors', ...mayImport[folder]];
  const forbidden = folders.filter((other) => !allowed.includes(other));
  return {
    files: [`${folder}/**/*.{ts,tsx}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(\\.\\./)+(${[...forbidden, 'test', 'bench'].join('|')})/`,
              message: `${folder}/ must not import this folder: see mayImport in eslint.config.js.`,
            },
          ],
        },
      ],
    },
  };
}

/** The same within a folder: its subfolders, and which others of those listed each may import. */
const subfoldersMayImport = {
  warehouse: {
    session: [],
    clock: [],
    transactions: ['session'],
    'api-budget': ['transactions'],
    query: ['transactions'],
  },
  lake: {
    files: [],
    parquet: ['files'],
    manifest: ['parquet'],
    storage: ['files', 'parquet', 'manifest'],
    snapshots: ['files', 'parquet', 'manifest'],
  },
  server: {
    frame: [],
    webhooks: [],
    dashboard: ['frame'],
    console: ['frame', 'dashboard'],
  },
  sandbox: {
    json: [],
    api: ['json'],
    data: ['json', 'api'],
    world: ['json', 'api', 'data'],
    faults: ['api', 'data', 'world'],
    webhooks: ['api', 'data', 'world'],
    writes: ['json', 'api', 'world', 'faults', 'webhooks'],
    http: ['api', 'data', 'world', 'faults', 'writes'],
    admin: ['api', 'data', 'world', 'faults', 'webhooks', 'http'],
  },
};

const subfolderDirections = Object.entries(subfoldersMayImport).flatMap(([folder, subfolders]) =>
  Object.entries(subfolders).map(([subfolder, allowed]) =>
    subfolderDirection({ folder, subfolders, subfolder, allowed }),
  ),
);

function subfolderDirection({ folder, subfolders, subfolder, allowed }) {
  const forbidden = Object.keys(subfolders).filter(
    (other) => other !== subfolder && !allowed.includes(other),
  );
  return {
    files: [`${folder}/${subfolder}/**/*.{ts,tsx}`],
    rules: {
      // Another name for the rule of the folders: a rule that is given twice counts once.
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(\\.\\./)+(${forbidden.join('|')})/`,
              message: `${folder}/${subfolder}/ must not import this subfolder: see subfoldersMayImport in eslint.config.js.`,
            },
          ],
        },
      ],
    },
  };
}

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.daybook/', 'test/released/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    // A workflow starts activities by type alone: it imports no code of theirs.
    files: ['workflows/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '(activities|requests)/',
              allowTypeImports: true,
              message: 'Workflows import types alone of activities and requests.',
            },
            {
              regex: 'temporal/(start-or-join|read-resources-of-run)\\.ts$',
              message: 'These ask a Temporal server; a workflow starts children instead.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(\\.\\./)+bench/',
              message: 'bench/ uses test/support/, and not the other way round.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
        performance: 'readonly',
      },
    },
  },
  {
    // config/ reads Daybook's variables. The others pass the environment on to a program, or read a variable that somebody else defines.
    files: folders.map((folder) => `${folder}/**/*.{ts,tsx}`),
    ignores: [
      'config/read-env.ts',
      'activities/export/run-export-process.ts',
      'cli/commands/psql.ts',
      'cli/commands/connection/read-secret.ts',
      'embedded/server-environment.ts',
      'iceberg/tables-program.ts',
      'lake/open-lake.ts',
      'python/*.ts',
    ],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only config/read-env.ts reads the environment.' },
      ],
    },
  },
  ...folders.map(importDirection),
  ...subfolderDirections,
);
