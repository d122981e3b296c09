import CustomDump
import FMData
import Testing

@testable import FMTesting

/// JSON in the files of a recording.
@Suite struct WireValueTests {
    @Test func peopleCanReadIt() throws {
        let value = try #require(WireValue(reading: #"{"a":[1,{"b":"\""}],"c":{},"d":[]}"#.utf8))
        let text = """
            {
              "a": [
                1,
                {
                  "b": "\\""
                }
              ],
              "c": {},
              "d": []
            }

            """
        expectNoDifference(value.readableJSON, text)
        expectNoDifference(WireValue(reading: text.utf8), value)
    }

    @Test func membersAreSortedAtAllLevels() {
        let value = WireValue(reading: #"{"b":[{"d":1,"c":2}],"a":3}"#.utf8)
        expectNoDifference(value?.sorted.compactJSON, #"{"a":3,"b":[{"c":2,"d":1}]}"#)
    }
}
