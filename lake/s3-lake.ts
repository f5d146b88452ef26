import { mkdir, rm, stat } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openBucket } from './bucket.ts';
import { SnapshotBroken } from './errors.ts';
import { manifestFile, namesOfMarts, successFile, type Lake } from './lake.ts';
import { snapshotIdPattern } from './snapshot-id.ts';

/**
 * A lake in a bucket. There is no rename, so a snapshot counts as complete by its last object, `_SUCCESS`, and a pointer is
 * replaced only if it is still what was read. No object is ever overwritten: two exports of one snapshot cannot mix.
 */
export function openS3Lake({ location, scratch }: { location: string; scratch: string }): Lake {
  const bucket = openBucket(location);
  const draftFolder = (id: string): string => join(scratch, 'draft', id);
  const lake: Lake = {
    location,
    draftFolder,
    snapshotIds: async () => complete(await bucket.list('snapshots/')),
    read: (path) => bucket.read(path),
    replace: (path, text, found) => bucket.replace(path, text, found),
    async publish(id, files) {
      for (const file of [...files, manifestFile]) await uploadOnce(id, file);
      // Every object is there as it was written, before the one that says so.
      for (const file of [...files, manifestFile]) await checkUploaded(id, file);
      if (!(await bucket.replace(`snapshots/${id}/${successFile}`, '', undefined)))
        throw new SnapshotBroken(taken);
    },
    async putFile(path, localPath) {
      await bucket.upload(path, localPath, { over: true });
    },
    removeFile: (path) => bucket.remove([path]),
    filesIn: async (folder) => (await bucket.list(`${folder}/`)).map((path) => path.slice(folder.length + 1)),
    async withFile(file, use) {
      const folder = join(scratch, 'download');
      await mkdir(folder, { recursive: true });
      const localPath = join(folder, randomUUID());
      try {
        const problem = await bucket.download(file, localPath);
        return problem === undefined ? { result: await use(localPath) } : { problem };
      } finally {
        await rm(localPath, { force: true });
      }
    },
    async removeSnapshot(id) {
      await bucket.remove([`snapshots/${id}/${successFile}`]);
      await bucket.remove([
        ...(await bucket.list(`snapshots/${id}/`)),
        ...(await bucket.list(`marts/${id}/`)),
      ]);
    },
    async removeLeftovers(of) {
      const kept = of === 'marts' ? await namesOfMarts(lake) : new Set(await lake.snapshotIds());
      const paths = await bucket.list(`${of}/`);
      await bucket.remove(paths.filter((path) => !kept.has(path.split('/')[1] ?? '')));
      await bucket.abortUploads(`${of}/`);
    },
    close() {
      bucket.close();
      return Promise.resolve();
    },
  };
  return lake;

  async function uploadOnce(id: string, file: string): Promise<void> {
    const uploaded = await bucket.upload(`snapshots/${id}/${file}`, join(draftFolder(id), file), {
      over: false,
    });
    if (!uploaded) throw new SnapshotBroken(taken);
  }

  async function checkUploaded(id: string, file: string): Promise<void> {
    const { size } = await stat(join(draftFolder(id), file));
    if ((await bucket.bytesOf(`snapshots/${id}/${file}`)) !== size)
      throw new SnapshotBroken(`${file} arrived with another size`);
  }
}

const taken = 'another attempt writes the same snapshot';

function complete(paths: readonly string[]): string[] {
  const ids = paths.flatMap((path) => {
    const [, id = '', file, ...more] = path.split('/');
    return file === successFile && more.length === 0 && snapshotIdPattern.test(id) ? [id] : [];
  });
  return ids.sort();
}
