package org.draftmill.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every record, natively and through Kryo, both ways. */
class RecordSerializerTest {
  private static final int RECORDS = 300;

  record Case<T>(RecordTypeInfo<T> type, Function<RandomGenerator, T> draw) {
    TypeSerializer<T> serializer() {
      return type.createSerializer(new SerializerConfigImpl());
    }

    /** As a user's job gets it who registers the serializers and names no type. */
    TypeSerializer<T> kryo() {
      Configuration configuration = new Configuration();
      KryoSerializers.register(configuration);
      SerializerConfigImpl config = new SerializerConfigImpl();
      config.configure(configuration, getClass().getClassLoader());
      return TypeInformation.of(type.getTypeClass()).createSerializer(config);
    }

    List<T> records() {
      Random random = new Random(42);
      return Stream.generate(() -> draw.apply(random)).limit(RECORDS).toList();
    }

    @Override
    public String toString() {
      return type.toString();
    }
  }

  static List<Case<?>> cases() {
    return List.of(
        new Case<>(RecordTypeInfo.HIDDEN_STATE_CHUNK, TestingRecords::chunk),
        new Case<>(RecordTypeInfo.STEP_MARKER, TestingRecords::marker),
        new Case<>(RecordTypeInfo.DELIVERY, TestingRecords::delivery));
  }

  private static <T> byte[] write(TypeSerializer<T> serializer, List<T> records)
      throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(64);
    for (T record : records) {
      serializer.serialize(record, out);
    }
    return out.getCopyOfBuffer();
  }

  private static <T> List<T> read(TypeSerializer<T> serializer, byte[] bytes) throws IOException {
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    List<T> records = new ArrayList<>();
    while (in.available() > 0) {
      records.add(serializer.deserialize(in));
    }
    return records;
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void recordsComeBackEqual(Case<T> of) throws IOException {
    byte[] bytes = write(of.serializer(), of.records());

    assertThat(read(of.serializer(), bytes)).isEqualTo(of.records());
    assertThat(write(of.serializer(), read(of.serializer(), bytes))).isEqualTo(bytes);
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void bytesAreCopiedFromViewToView(Case<T> of) throws IOException {
    byte[] bytes = write(of.serializer(), of.records());
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    DataOutputSerializer out = new DataOutputSerializer(64);
    while (in.available() > 0) {
      of.serializer().copy(in, out);
    }

    assertThat(out.getCopyOfBuffer()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void objectsAreNeverCopied(Case<T> of) {
    T record = of.records().get(0);

    assertThat(of.serializer().isImmutableType()).isTrue();
    assertThat(of.serializer().copy(record)).isSameAs(record);
    assertThat(of.serializer().copy(record, null)).isSameAs(record);
    assertThat(of.kryo().copy(record)).isSameAs(record);
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void flinkTakesTheClassForAGenericType(Case<T> of) {
    assertThat(TypeInformation.of(of.type().getTypeClass())).isInstanceOf(GenericTypeInfo.class);
    assertThat(of.kryo()).isInstanceOf(KryoSerializer.class);
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void kryoCarriesTheSameBytes(Case<T> of) throws IOException {
    byte[] natively = write(of.serializer(), of.records().subList(0, 1));
    byte[] kryo = write(of.kryo(), of.records().subList(0, 1));

    assertThat(kryo).endsWith(natively);
    assertThat(kryo.length - natively.length).as("the registered class id").isLessThan(4);
    assertThat(read(of.kryo(), write(of.kryo(), of.records()))).isEqualTo(of.records());
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void kryoRefusesDamagedBytes(Case<T> of) throws IOException {
    byte[] bytes = write(of.kryo(), of.records().subList(0, 1));
    bytes[20] ^= 1;

    assertThatThrownBy(() -> read(of.kryo(), bytes))
        .hasRootCauseInstanceOf(RecordFormatException.class);
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void anEndedStreamIsToldFromATruncatedRecord(Case<T> of) throws IOException {
    byte[] bytes = write(of.serializer(), of.records().subList(0, 1));
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    of.serializer().deserialize(in);

    assertThatThrownBy(() -> of.serializer().deserialize(in)).isInstanceOf(EOFException.class);
    DataInputDeserializer half = new DataInputDeserializer(bytes, 0, bytes.length - 1);
    assertThatThrownBy(() -> of.serializer().deserialize(half))
        .isInstanceOf(RecordFormatException.class);
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void theSnapshotRestoresTheSerializer(Case<T> of) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(64);
    TypeSerializerSnapshot<T> snapshot = of.serializer().snapshotConfiguration();
    TypeSerializerSnapshot.writeVersionedSnapshot(out, snapshot);
    TypeSerializerSnapshot<T> restored =
        TypeSerializerSnapshot.readVersionedSnapshot(
            new DataInputDeserializer(out.getCopyOfBuffer()), getClass().getClassLoader());

    assertThat(restored.restoreSerializer()).isEqualTo(of.serializer());
    assertThat(snapshot.resolveSchemaCompatibility(restored).isCompatibleAsIs()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void stateOfALaterLayoutIsRefused(Case<T> of) throws IOException {
    TypeSerializerSnapshot<T> snapshot = of.serializer().snapshotConfiguration();
    TypeSerializerSnapshot<T> later = of.serializer().snapshotConfiguration();
    DataInputDeserializer formatTwo = new DataInputDeserializer(new byte[] {0, 0, 0, 2});
    later.readSnapshot(1, formatTwo, getClass().getClassLoader());

    assertThat(snapshot.resolveSchemaCompatibility(later).isIncompatible()).isTrue();
    assertThatThrownBy(() -> snapshot.readSnapshot(2, formatTwo, getClass().getClassLoader()))
        .isInstanceOf(RecordFormatException.class)
        .hasMessageContaining("version 2")
        .hasMessageContaining("reads version 1");
  }

  @ParameterizedTest
  @MethodSource("cases")
  <T> void serializerAndTypeTravelWithTheJob(Case<T> of) throws Exception {
    assertThat(InstantiationUtil.clone(of.serializer())).isEqualTo(of.serializer());
    assertThat(InstantiationUtil.clone(of.type())).isEqualTo(of.type());
  }
}
