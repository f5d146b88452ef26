import type { LoggedRequest } from '../../sandbox/http/request-log.ts';

/** Judges that every request names the version, and that in no 10 seconds more requests arrive than the budget allows. */
export function judgeRequests(
  requests: readonly LoggedRequest[],
  { requestsPer10s }: { requestsPer10s: number },
): string[] {
  const complaints: string[] = [];
  if (requests[0]?.number !== 1) complaints.push('The log of requests is incomplete; the day was too long.');
  const unversioned = requests.filter(({ version }) => version !== '2023-03-14').length;
  if (unversioned > 0) complaints.push(`${unversioned} requests did not name the version of the API.`);
  const most = mostWithin(10_000, requests);
  if (most > requestsPer10s)
    complaints.push(`${most} requests arrived within 10 s, and ${requestsPer10s} were allowed.`);
  return complaints;
}

/** The most requests that arrived within so many milliseconds. The log is in the order of arrival. */
export function mostWithin(milliseconds: number, requests: readonly LoggedRequest[]): number {
  let first = 0;
  let most = 0;
  requests.forEach(({ at }, last) => {
    while ((requests[first]?.at ?? at) <= at - milliseconds) first += 1;
    most = Math.max(most, last - first + 1);
  });
  return most;
}
