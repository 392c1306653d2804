// Owns "who produced this value under this name, most recently" (G1) without a pass over earlier
// outputs. Form of a name -> typed value -> chain of occurrences.
//   V1 A chain is ordered by step, latest first; one occurrence per step, the shallowest.
//   V2 Removing a step's occurrences costs what adding them cost.
import { linkForms, nameForms } from "./name-forms.js";

/** A scalar of an output. */
export interface Occurrence {
  readonly step: number;
  readonly path: string;
  readonly name: string;
  readonly value: string | number;
}

interface Link {
  readonly occurrence: Occurrence;
  previous: Link | null;
}

export class ValueIndex {
  // The value is the key of a Map, so 1 and "1" stay apart.
  readonly #chains = new Map<string, Map<string | number, Link>>();

  add(occurrence: Occurrence): void {
    for (const form of nameForms(occurrence.name)) this.#insert(form, occurrence);
  }

  /** REQUIRES: no occurrence of a later step is left in the index. */
  remove(occurrence: Occurrence): void {
    for (const form of nameForms(occurrence.name)) {
      const byValue = this.#chains.get(form);
      const head = byValue?.get(occurrence.value);
      if (byValue === undefined || head?.occurrence.step !== occurrence.step) continue;
      if (head.previous !== null) byValue.set(occurrence.value, head.previous);
      else byValue.delete(occurrence.value);
      if (byValue.size === 0) this.#chains.delete(form);
    }
  }

  /** Most recent producer of all; among its outputs the most specific name wins. */
  findProducer(inputName: string, value: string | number): Occurrence | null {
    let best: Occurrence | null = null;
    for (const form of linkForms(inputName)) {
      const link = this.#chains.get(form)?.get(value) ?? null;
      if (link !== null && (best === null || link.occurrence.step > best.step)) {
        best = link.occurrence;
      }
    }
    return best;
  }

  #insert(form: string, occurrence: Occurrence): void {
    let byValue = this.#chains.get(form);
    if (byValue === undefined) {
      byValue = new Map();
      this.#chains.set(form, byValue);
    }
    const { step, value } = occurrence;
    const head = byValue.get(value) ?? null;
    if (head === null || head.occurrence.step < step) {
      byValue.set(value, { occurrence, previous: head });
      return;
    }
    let later = head;
    while (later.previous !== null && later.previous.occurrence.step >= step)
      later = later.previous;
    if (later.occurrence.step !== step) later.previous = { occurrence, previous: later.previous };
  }
}
