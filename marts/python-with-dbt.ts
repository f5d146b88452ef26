import { join } from 'node:path';
import { pythonWith, type PythonPlaces } from '../python/python-environment.ts';
import type { NeedOfPython } from '../python/errors.ts';
import { dbtProject } from './dbt-project.ts';

/** The Python that has dbt. Throws PythonMissing, PythonPackagesMissing. */
export function pythonWithDbt(places: PythonPlaces): Promise<string> {
  return pythonWith(
    { name: 'dbt', requirements: join(dbtProject, 'requirements.txt'), for: martsNeedPython },
    places,
  );
}

export const martsNeedPython: NeedOfPython = { who: 'The marts', again: 'daybook dbt build' };
