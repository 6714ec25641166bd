package org.draftmill.compute.cuda;

/** Something in device memory that a kernel takes as a pointer. */
interface DeviceValue {
  /** Where it begins, and whom it belongs to. */
  Piece piece();

  /** The address of its first element. */
  long address();
}
