/** The service's own time, which may differ from the local one and may stand still. Unix ms. */
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
  /** Stands still at this time. */
  readonly frozenAt?: number | undefined;
}
