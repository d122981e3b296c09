import CustomDump
import FMData
import NIOCore
import Testing

@testable import FMDataCore
@testable import FMDataRecords

@Suite struct PageSizeTests {
    /// The page sizes after full pages of the given duration and bytes per row.
    private func sizes(
        _ count: Int,
        from start: Int = PageSize.initial,
        milliseconds: (Int) -> Int64,
        bytesPerRow: Int = 100
    ) -> [Int] {
        var size = PageSize(current: start)
        return (0..<count).map { _ in
            let rows = size.current
            size.learned(
                rows: rows,
                of: rows,
                bytes: rows * bytesPerRow,
                took: .milliseconds(milliseconds(rows))
            )
            return size.current
        }
    }

    @Test func quickPagesGrowToTheLargest() {
        expectNoDifference(
            sizes(3) { _ in 0 },
            [800, 5_000, 5_000]
        )
    }

    /// A page grows to what its time and its bytes leave room for: 250 ms, and three quarters of a mebibyte.
    @Test func pagesGrowByTheRoomThatIsLeft() {
        expectNoDifference(sizes(2) { Int64($0) / 2 }, [500, 500])
        expectNoDifference(sizes(2, milliseconds: { _ in 0 }, bytesPerRow: 2_000), [393, 393])
    }

    /// Where a page was too large once, the limit is near.
    @Test func pagesGrowSlowlyAfterOneThatWasTooLarge() {
        var size = PageSize()
        let isSmaller = size.tooMuch(100)
        #expect(isSmaller)
        size.learned(rows: 50, of: 50, bytes: 100, took: .zero)
        expectNoDifference(size.current, 75)
        size.learned(rows: 75, of: 75, bytes: 2 << 20, took: .zero)
        size.learned(rows: 37, of: 37, bytes: 100, took: .zero)
        expectNoDifference(size.current, 55)
    }

    @Test func pagesThatTakeAMomentStayAsTheyAre() {
        expectNoDifference(sizes(3) { _ in 400 }, [100, 100, 100])
    }

    @Test func slowPagesShrinkToTheSmallest() {
        expectNoDifference(sizes(5) { Int64($0) * 100 }, [50, 25, 12, 10, 10])
    }

    @Test func thereIsASizeBetween() {
        // At 2 ms a row, 250 rows take half a second, the most that a page may take.
        let settled = sizes(20) { Int64($0) * 2 }.suffix(5)
        #expect(settled.allSatisfy { 100...260 ~= $0 })
    }

    @Test func pagesOfAMebibyteAreLargeEnough() {
        let settled = sizes(20, milliseconds: { _ in 0 }, bytesPerRow: 10_000).suffix(5)
        #expect(settled.allSatisfy { $0 * 10_000 <= 1 << 20 && $0 >= 50 })
    }

    @Test func pagesOfLargeRecordsShrinkHoweverQuick() {
        expectNoDifference(sizes(2, milliseconds: { _ in 0 }, bytesPerRow: 1 << 20), [50, 25])
    }

    /// If the server sorts all records for each page, smaller pages only mean that it sorts more often.
    @Test func pagesThatAreSlowWhateverTheirSizeDoNotShrink() {
        expectNoDifference(sizes(4, from: 800) { 2_000 + Int64($0) / 10 }, [400, 800, 800, 800])
    }

    @Test func aPageThatWasNotFullSaysNothingOfMore() {
        var size = PageSize()
        size.learned(rows: 3, of: 100, bytes: 300, took: .zero)
        expectNoDifference(size.current, 100)
    }

    @Test func aSizeOfTheCallersStays() {
        var size = PageSize(fixed: 7)
        size.learned(rows: 7, of: 7, bytes: 1 << 30, took: .seconds(60))
        size.learned(rows: 7, of: 7, bytes: 0, took: .zero)
        expectNoDifference(size.current, 7)
        let isSmaller = size.tooMuch(7)
        #expect(!isSmaller)
    }

    @Test func whatHasProvedItselfIsRemembered() {
        let sizes = PageSizes()
        let people = sizes.memory(of: "People", fixed: nil)
        expectNoDifference(people.size.current, 100)
        people.learned(PageSize(current: 337))
        expectNoDifference(sizes.memory(of: "People", fixed: nil).size.current, 337)
        expectNoDifference(sizes.memory(of: "Orders", fixed: nil).size.current, 100)
        let fixed = sizes.memory(of: "People", fixed: 20)
        expectNoDifference(fixed.size.current, 20)
        fixed.learned(fixed.size)
        expectNoDifference(people.size.current, 337)
    }
}
