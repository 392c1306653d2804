// Owns the form of effect ids: `${transaction}/${seq}`, seq from 1.

/** The id of the effect that took number `seq` (from 1) in its transaction. */
export function effectIdOf(transaction: string, seq: number): string {
  return `${transaction}/${seq}`;
}

/** The number in an effect id. Throws RangeError for text that is no effect id. */
export function effectSeqOf(effectId: string): number {
  const digits = effectId.slice(effectId.lastIndexOf("/") + 1);
  const seq = Number(digits);
  if (!/^[1-9][0-9]*$/.test(digits) || !Number.isSafeInteger(seq)) {
    throw new RangeError(`"${effectId.slice(0, 80)}" is not an effect id.`);
  }
  return seq;
}
