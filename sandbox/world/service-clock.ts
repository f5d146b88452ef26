/** The service's own time in Unix ms, which may differ from the local time and may be frozen. */
export class ServiceClock {
  #offsetMs = 0;
  #frozenAt: number | null = null;

  now(): number {
    return this.#frozenAt ?? Date.now() + this.#offsetMs;
  }

  set(setting: ClockSetting): void {
    this.#offsetMs = setting.offsetMs ?? 0;
    this.#frozenAt = setting.frozenAt ?? null;
  }
}

export interface ClockSetting {
  /** Service time minus local time. */
  readonly offsetMs?: number | undefined;
  /** The time at which it is frozen. */
  readonly frozenAt?: number | undefined;
}
