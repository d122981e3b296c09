import CustomDump
import FMData
import Testing

@testable import FMDataCore

@Suite struct DataAPIPathTests {
    @Test(arguments: [
        ("A/B", "A%2FB"), ("50 %", "50%20%25"), ("a+b", "a%2Bb"), ("#1?", "%231%3F"), ("Müller", "M%C3%BCller"),
        ("[x]&=;:@", "%5Bx%5D%26%3D%3B%3A%40"), ("-._~aZ09", "-._~aZ09"), ("日", "%E6%97%A5"), ("\r\n", "%0D%0A"),
    ])
    func encodesEachSegmentOnItsOwn(name: String, encoded: String) throws {
        expectNoDifference(
            try DataAPIPath.layout(name, in: "D B").encoded(),
            "/databases/D%20B/layouts/\(encoded)"
        )
    }

    @Test func namesRecords() throws {
        expectNoDifference(
            try DataAPIPath.record(17, of: "People", in: "Contacts").encoded(),
            "/databases/Contacts/layouts/People/records/17"
        )
    }

    @Test(arguments: ["", ".", ".."])
    func refusesNamesThatChangeThePath(name: String) {
        #expect(throws: FMRest.APIError.self) { try DataAPIPath.layout(name, in: "D").encoded() }
    }
}
