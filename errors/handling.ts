/**
 * What to do about an error. retry: soon; wait: after the error's `milliseconds`, without using up an attempt; stop: give up and tell a person;
 * restart: read the stream again from its watermark, without the cursor. Every error class of Daybook says it as `handling`.
 */
export type Handling = 'retry' | 'wait' | 'stop' | 'restart';
