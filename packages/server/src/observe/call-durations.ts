// Owns the histogram of call durations. It is filled with every call and read once a scrape, so it is
// a few numbers here, and looks like a Prometheus histogram only when it is asked: prom-client's own
// costs more than the rest of what the server does for a call.

/** Upper bounds in seconds. */
const BOUNDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

/** One line of the exposition, as prom-client's registry reads it. */
interface Line {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

interface Series {
  readonly face: string;
  readonly method: string;
  /** Calls at most as long as each bound, and the rest; not cumulative. */
  readonly buckets: number[];
  sumSeconds: number;
}

export class CallDurations {
  readonly name = "agenttx_call_duration_seconds";
  readonly help = "Duration of calls";
  readonly type = "histogram";
  readonly aggregator = "sum";
  readonly #series = new Map<string, Map<string, Series>>();

  observe(face: string, method: string, seconds: number): void {
    const series = this.#of(face, method);
    let index = 0;
    while (seconds > (BOUNDS[index] ?? Number.POSITIVE_INFINITY)) index += 1;
    series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    series.sumSeconds += seconds;
  }

  /** Called by the registry. */
  async get() {
    const { name, help, type, aggregator } = this;
    const values = [...this.#series.values()].flatMap((methods) =>
      [...methods.values()].flatMap((series) => this.#values(series)),
    );
    return { name, help, type, aggregator, values };
  }

  reset(): void {
    this.#series.clear();
  }

  #of(face: string, method: string): Series {
    let methods = this.#series.get(face);
    if (methods === undefined) {
      methods = new Map();
      this.#series.set(face, methods);
    }
    let series = methods.get(method);
    if (series === undefined) {
      series = { face, method, buckets: [...BOUNDS, 0].map(() => 0), sumSeconds: 0 };
      methods.set(method, series);
    }
    return series;
  }

  #values({ face, method, buckets, sumSeconds }: Series): Line[] {
    const labels = { face, method };
    let count = 0;
    const cumulative = buckets.map((inBucket, index) => {
      count += inBucket;
      const le = BOUNDS[index] ?? "+Inf";
      return { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...cumulative,
      { metricName: `${this.name}_sum`, labels, value: sumSeconds },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
