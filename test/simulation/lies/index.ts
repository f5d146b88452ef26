import fc from 'fast-check';
import type { Episode } from '../history.ts';
import { correctedService, correctedMidway, correctedPlatform, future, databaseAhead } from './clocks.ts';
import {
  flippingLists,
  missingAtFirst,
  flippingFetches,
  oldLists,
  givenUp,
  givenUpBehindFuture,
  forgottenCursors,
  askedForSilence,
} from './lists.ts';
import {
  anotherCompany,
  addedAgain,
  replaced,
  ticks,
  discarded,
  staleApproval,
  severalAtOnce,
} from './operations.ts';
import { lateWebhooks, oddRecords, spoiledAtReturn, livesAsItWas, lostRows } from './records.ts';
import {
  longPause,
  pausedTwice,
  lateStep,
  latePageOfGone,
  overtakenAttempt,
  interruptedDeletion,
  sleptBeforeProof,
  spoiledMeanwhile,
} from './standstills.ts';

/** Ways in which a source, a clock or a person leads a copy astray, each as the episodes that lead up to it; by name. */
export const lies: Readonly<Record<string, fc.Arbitrary<Episode[]>>> = {
  anotherCompany: anotherCompany(),
  addedAgain: addedAgain(),
  flippingLists: fc.oneof(flippingLists(), missingAtFirst()),
  flippingFetches: flippingFetches(),
  correctedService: correctedService(),
  correctedMidway: correctedMidway(),
  correctedPlatform: correctedPlatform(),
  longPause: longPause(),
  pausedTwice: pausedTwice(),
  untoldTime: fc.oneof(longPause(), pausedTwice()),
  lateStep: lateStep(),
  lateWebhooks: lateWebhooks(),
  latePageOfGone: latePageOfGone(),
  untoldLatePage: latePageOfGone(),
  overtakenAttempt: overtakenAttempt(),
  interruptedDeletion: interruptedDeletion(),
  sleptBeforeProof: sleptBeforeProof(),
  future: future(),
  databaseAhead: databaseAhead(),
  givenUp: givenUp(),
  givenUpBehindFuture: givenUpBehindFuture(),
  forgottenCursors: forgottenCursors(),
  askedForSilence: askedForSilence(),
  oddRecords: oddRecords(),
  spoiledAtReturn: spoiledAtReturn(),
  spoiledMeanwhile: spoiledMeanwhile(),
  discarded: discarded(),
  livesAsItWas: livesAsItWas(),
  lostRows: lostRows(),
  staleApproval: staleApproval(),
  oldLists: oldLists(),
  severalAtOnce: severalAtOnce(),
  ticks: ticks(),
  replaced: replaced(),
};
