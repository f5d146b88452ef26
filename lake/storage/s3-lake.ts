import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openBucket, type Bucket } from './bucket.ts';
import { keptBack, LakeUnavailable, SnapshotBroken, unlessRefused } from '../errors.ts';
import { filterConcurrently, mapConcurrently } from '../map-concurrently.ts';
import {
  manifestFile,
  namesOfMarts,
  namesOfSnapshots,
  successFile,
  type KeptFile,
  type Lake,
  type LakeToOpen,
  notLocked,
} from '../lake.ts';
import { sha256Of } from '../manifest/manifest.ts';
import { removeEach } from './remove-each.ts';
import { sha256OfFile } from '../parquet/read-back.ts';
import { snapshotIdPattern } from '../manifest/snapshot-id.ts';

/**
 * A lake in a bucket. There is no rename, so a snapshot is complete once its last object, `_SUCCESS`, exists, and a pointer is replaced only if
 * it is still as it was read. No object is ever overwritten: two exports of one snapshot cannot mix.
 *
 * The writer of a snapshot first puts an empty object there, and later lets the server copy it to `_SUCCESS`. A cleanup removes this object first:
 * from then on nobody can complete the draft, even if an earlier request arrives late.
 */
export function openS3Lake({
  location,
  scratch,
  assertHeld = notLocked,
  bucket = openBucket(location, { assertHeld }),
}: LakeToOpen & { bucket?: Bucket }): Lake {
  /** The retry of a run has the same ID, and writes beside an attempt that stood still. */
  const own = randomUUID();
  const draftFolder = (id: string): string => join(scratch, 'draft', `${id}-${own}`);
  /** The objects that complete the drafts being written, by the ID of the draft. */
  const begun = new Map<string, KeptFile>();
  const lake: Lake = {
    location,
    assertHeld,
    draftFolder,
    async withDraft(id, write) {
      const folder = draftFolder(id);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      try {
        begun.set(id, await begin(id));
        return await write(folder);
      } finally {
        begun.delete(id);
        await rm(folder, { recursive: true, force: true });
      }
    },
    async snapshotIds() {
      const ids = await lake.foldersIn('snapshots');
      return (await filterConcurrently(requestsAtOnce, ids, isComplete)).sort();
    },
    read: (path) => bucket.read(path),
    replace: (path, text, found) => bucket.replace(path, text, found),
    async keep({ id, files }, to) {
      const targets = to.paths.map((path) => `snapshots/${to.id}/${path}`);
      for (const [place, file] of files.entries()) {
        const source = { ...file, path: `snapshots/${id}/${file.path}` };
        const target = targets[place] ?? '';
        await assertHeld();
        const isCopied = await unlessRefused(() => bucket.copy(source, target, { over: false }));
        if (isCopied === true) continue;
        // The response may have been lost: the SDK then repeats the request, which is refused because the object is there.
        if (await bucket.holds({ ...file, path: target })) continue;
        await assertHeld();
        await bucket.remove(targets.slice(0, place));
        return false;
      }
      return true;
    },
    async publish(id, { written }) {
      await mapConcurrently(uploadsAtOnce, [...written], async ([file, sha256]) => {
        await assertHeld();
        await uploadOnce(id, file, sha256);
      });
      await uploadOnce(id, manifestFile, await sha256OfFile(join(draftFolder(id), manifestFile)));
      // Every object is checked before `_SUCCESS` is written.
      await mapConcurrently(requestsAtOnce, [...written.keys(), manifestFile], (file) =>
        checkUploaded(id, file),
      );
      await assertHeld();
      await complete(id);
    },
    async putFile(path, localPath) {
      const file = { path, bytes: (await stat(localPath)).size, sha256: await sha256OfFile(localPath) };
      const uploaded = await bucket.upload(path, localPath, { over: true, sha256: file.sha256 });
      if (uploaded || (await bucket.holds(file))) return;
      throw new LakeUnavailable(location, 'an upload was not completed');
    },
    share: async (file, to) => (await unlessRefused(() => bucket.copy(file, to, { over: true }))) === true,
    removeFile: (path) => bucket.remove([path]),
    removeFolder: (path) => removeEach([() => bucket.abortUploads(`${path}/`), () => removeBelow(path)]),
    isThere: (folder) => bucket.hasAny(`${folder}/`),
    hasFilesIn: (folder) => bucket.hasAny(`${folder}/`),
    async filesIn(folder, isMeant = () => true) {
      const relative = (path: string): string => path.slice(folder.length + 1);
      return (await bucket.list(`${folder}/`, (path) => isMeant(relative(path)))).map(relative);
    },
    foldersIn: (folder) => bucket.folders(`${folder}/`, (name) => snapshotIdPattern.test(name)),
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
      await removeEach([
        async () => {
          await bucket.remove([`snapshots/${id}/${successFile}`]);
          await removeBelow(`snapshots/${id}`);
        },
        // Also if the bucket refuses to delete files of the snapshot.
        () => removeBelow(`marts/${id}`),
      ]);
    },
    async removeLeftovers(of, published) {
      const kept = of === 'marts' ? await namesOfMarts(lake) : await namesOfSnapshots(lake);
      const left = (await lake.foldersIn(of)).filter(
        (name) => !kept.has(name) && published?.has(name) !== true,
      );
      // If the bucket refuses to delete one, the others are still removed.
      await removeEach([
        () => bucket.abortUploads(`${of}/`),
        () => bucket.abortUploads(`iceberg/${namespaceOf[of]}/`),
        ...left.map((name) => async () => {
          const folder = `${of}/${name}`;
          if (of === 'marts') return removeBelow(folder);
          await bucket.removeBelow(`${folder}/${begunPrefix}`);
          // A draft that was completed before that is a snapshot.
          if (!(await isComplete(name))) await removeBelow(folder);
        }),
      ]);
    },
    close() {
      bucket.close();
      return Promise.resolve();
    },
  };
  return lake;

  function removeBelow(path: string): Promise<void> {
    return bucket.removeBelow(`${path}/`);
  }

  /** An incomplete one is removed as a leftover, so it takes two answers: one may come from a server that lags behind. */
  async function isComplete(id: string): Promise<boolean> {
    const path = `snapshots/${id}/${successFile}`;
    const bytes = await unlessRefused(() => bucket.bytesOf(path));
    return typeof bytes === 'number' || (await bucket.isListed(path));
  }

  async function begin(id: string): Promise<KeptFile> {
    const file = { path: `snapshots/${id}/${begunPrefix}${randomUUID()}`, bytes: 0, sha256: sha256Of('') };
    const localPath = join(draftFolder(id), successFile);
    await writeFile(localPath, '', { flag: 'wx' });
    await bucket.upload(file.path, localPath, { over: false, sha256: file.sha256 });
    return file;
  }

  async function complete(id: string): Promise<void> {
    const file = begun.get(id);
    if (file === undefined || !(await bucket.copy(file, `snapshots/${id}/${successFile}`, { over: true })))
      throw new SnapshotBroken(taken);
    // An empty object that stays does no harm.
    await keptBack(() => bucket.remove([file.path]));
  }

  async function uploadOnce(id: string, file: string, sha256: string): Promise<void> {
    const [path, localPath] = [`snapshots/${id}/${file}`, join(draftFolder(id), file)];
    const uploaded = await bucket.upload(path, localPath, { over: false, sha256 });
    // The response may have been lost: the SDK then repeats the request, which is refused because these very bytes are there.
    if (uploaded || (await bucket.holds({ path, bytes: (await stat(localPath)).size, sha256 }))) return;
    throw new SnapshotBroken(taken);
  }

  async function checkUploaded(id: string, file: string): Promise<void> {
    const { size } = await stat(join(draftFolder(id), file));
    if ((await bucket.bytesOf(`snapshots/${id}/${file}`)) !== size)
      throw new SnapshotBroken(`${file} arrived with another size`);
  }
}

const taken = 'somebody else writes the same snapshot, or has removed what was written';

/** The prefix of the object that completes a snapshot. */
const begunPrefix = '_begun-';

/** The Iceberg tables that are written under the same lock. */
const namespaceOf = { snapshots: 'finance', marts: 'marts' } as const;

/** A server answers each of these in milliseconds, and there may be thousands. */
const requestsAtOnce = 16;

/** Each has up to two pieces of 16 MB in memory. */
const uploadsAtOnce = 4;
