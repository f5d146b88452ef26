import { randomBytes } from 'node:crypto';

const mark = randomBytes(6).toString('hex');
/** Makes a text that JSON, addresses, forms and base64 each encode differently. */
const awkward = (name: string): string => `planted ${name} ${mark} +/=&"é`;

/** A secret for every way in. These texts occur nowhere else. */
export const secrets = {
  /** Resembles an error code and a request id, which are shown. */
  token: `PLANTED_TOKEN_${mark.toUpperCase()}`,
  awkwardToken: awkward('token'),
  replacedToken: awkward('replaced token'),
  clientId: `planted-client-${mark}`,
  clientSecret: awkward('client secret'),
  databasePassword: awkward('database password'),
  consolePassword: awkward('console password'),
  wrongPassword: awkward('wrong password'),
  alertToken: `planted-alert-${mark}`,
  alertPassword: awkward('alert password'),
  temporalKey: `planted-temporal-key-${mark}`,
  s3Key: `PLANTEDS3KEY${mark.toUpperCase()}`,
  s3Secret: `planted/s3/secret+${mark}`,
  secretKey: randomBytes(32),
  nextSecretKey: randomBytes(32),
} as const;

/** Contents of records, which may be only in the tables made for them. */
export const contents = {
  memo: `planted memo ${mark}`,
  line: `planted line ${mark}`,
  customer: `planted customer ${mark}`,
  refused: `planted refused record ${mark}`,
  announced: `planted announced record ${mark}`,
} as const;
