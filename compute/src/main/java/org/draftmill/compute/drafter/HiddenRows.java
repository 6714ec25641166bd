package org.draftmill.compute.drafter;

import java.nio.ByteBuffer;
import org.draftmill.compute.DType;

/**
 * Hidden states of consecutive rows of a microbatch, as they came from the target: little-endian,
 * row-major.
 *
 * @param firstRow row of the microbatch that the first row here is
 * @param rows how many
 * @param taps {@code [rows, K·H]} of {@code dtype}, from position to limit
 * @param finalStates {@code [rows, H]} after the target's final norm, or null when no soft labels
 *     are trained
 */
public record HiddenRows(
    int firstRow, int rows, ByteBuffer taps, ByteBuffer finalStates, DType dtype) {}
