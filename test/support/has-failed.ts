interface TaskSeen {
  readonly result?: { readonly state: string };
  readonly tasks?: readonly TaskSeen[];
}

/** Whether a test of the suite failed, or a hook of it, as far as it has run. */
export function hasFailed(suite: TaskSeen): boolean {
  return suite.result?.state === 'fail' || (suite.tasks ?? []).some(hasFailed);
}
