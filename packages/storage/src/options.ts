// Owns the settings of the RocksDB driver.

export interface StoreOptions {
  /** Directory of the database; created (0700) when missing. */
  readonly path: string;
  /** Every acknowledged batch is fsynced first (S9). Default false. */
  readonly syncWrites?: boolean;
  /** Open although the store is behind its anchor; the loss is recorded (S9b). Default false. */
  readonly salvage?: boolean;
  /** Below this free space on the volume, new work is refused (S10). Default 64 MiB; 0 = off. */
  readonly freeSpaceReserveBytes?: number;
  /** Block cache. Default 64 MiB. */
  readonly blockCacheBytes?: number;
  /** Memtable size of the default family. Default 64 MiB. */
  readonly writeBufferBytes?: number;
}
