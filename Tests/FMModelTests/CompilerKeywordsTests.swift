import CustomDump
import FMTestSupport
import Testing

@Suite struct CompilerKeywordsTests {
    /// A newer compiler may have additional words, which then belong into the list.
    @Test func theListIsThatOfTheCompiler() throws {
        guard let words = try CompilerKeywords.ofToolchain() else { return }
        #expect(words.count > 100)
        let unknown = Set(words).subtracting(CompilerKeywords.all)
        expectNoDifference(unknown.sorted(), [])
    }
}
