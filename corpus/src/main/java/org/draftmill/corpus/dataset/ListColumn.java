package org.draftmill.corpus.dataset;

/**
 * One of the two columns within one record batch: where its bytes lie and how wide they are.
 *
 * @param offsets position of the list offsets in the file
 * @param offsetBytes 4 for {@code list}, 8 for {@code large_list}
 * @param values position of the elements in the file
 * @param valueBits bits of an element: 1 (bool), 8, 16, 32 or 64
 * @param elements number of elements that the file holds from there
 */
record ListColumn(long offsets, int offsetBytes, long values, int valueBits, long elements) {
  /** Where the list of {@code row} starts, counted in elements; {@code rows} gives the end. */
  long start(MappedFile file, long row) {
    return offsetBytes == 4 ? file.intAt(offsets + 4 * row) : file.longAt(offsets + 8 * row);
  }

  /** The element {@code index}, zero-extended where it is narrower than 32 bits. */
  long value(MappedFile file, long index) {
    return switch (valueBits) {
      case 1 -> file.byteAt(values + (index >> 3)) >> (index & 7) & 1;
      case 8 -> file.byteAt(values + index) & 0xFF;
      case 16 ->
          (file.byteAt(values + 2 * index) & 0xFF)
              | (file.byteAt(values + 2 * index + 1) & 0xFF) << 8;
      case 32 -> file.intAt(values + 4 * index);
      default -> file.longAt(values + 8 * index);
    };
  }
}
