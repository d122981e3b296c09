import CustomDump
import FMData
import FMSandbox
import Foundation
import Testing

@testable import FMDataCore

@Suite struct FileMakerErrorCodeTests {
    @Test func namesAreUniqueSoThatANameInALogLeadsBackToOneCode() {
        let rows = FileMakerErrorCode.rows.values
        #expect(rows.count == 292)
        #expect(Set(rows.map(\.name)).count == rows.count)
    }

    /// The constants of the sandbox and of the client have the same names: `.error(.recordInUse)` in the sandbox is
    /// `FileMakerErrorCode.recordInUse` in a `catch`.
    @Test func theSandboxCallsItsErrorsTheSame() throws {
        func constants(_ path: String) throws -> [String: String] {
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Sources/\(path)")
            let found = try String(contentsOf: file, encoding: .utf8)
                .matches(of: /static let ([A-Za-z]+): Self = (-?[0-9]+)/).map { ("\($0.1)", "\($0.2)") }
            return Dictionary(uniqueKeysWithValues: found)
        }
        let sandbox = try constants("FMSandbox/Store/FileMakerError+Names.swift")
        let client = try constants("FMDataCore/Errors/FileMakerErrorCode+Constants.swift")
        #expect(sandbox.count > 15)
        expectNoDifference(sandbox, client.filter { sandbox[$0.key] != nil })
        expectNoDifference(FileMakerError.recordInUse.code, FileMakerErrorCode.recordInUse.rawValue)
    }

    @Test func numbersAreThoseOfTheClarisList() {
        expectNoDifference(
            [
                FileMakerErrorCode.unknown, .ok, .recordMissing, .fieldMissing, .windowMissing, .invalidAccount,
                .recordInUse, .modIdMismatch, .findCriteriaEmpty, .noRecordsMatch, .dateInvalid, .valueOutOfRange,
                .valueNotExisting, .validationCalculationFailed, .relatedValueUnavailable, .valueDoesNotFit,
                .fileNotOpened, .hostCapacityExceeded, .invalidToken, .sessionLimitExceeded, .parameterInvalid,
                .newConnectionsRefused, .parameterValueInvalid, .externalSignInDisabled,
            ].map(\.rawValue),
            [
                -1, 0, 101, 102, 112, 212, 301, 306, 400, 401, 500, 503, 505, 507, 510, 513, 802, 812, 952, 956, 960,
                1638, 1708, 1715,
            ]
        )
    }

    @Test func theTableHasTheCodesOfTheClarisListAndNoOthers() {
        // The ranges are copied from Claris's list, not from the table under test.
        let listed: [ClosedRange<Int>] = [
            -1...21, 100...119, 130...131, 200...212, 214...219, 300...308, 310...310, 400...402, 404...410, 412...418,
            500...513, 600...603, 700...700, 706...708, 711...711, 714...727, 729...736, 738...738, 800...817,
            819...827, 850...853, 870...872, 875...879, 882...887, 892...892, 900...901, 903...903, 905...906,
            920...923, 951...960, 1200...1225, 1300...1301, 1400...1409, 1413...1415, 1450...1451, 1501...1507,
            1541...1543, 1550...1559, 1626...1635, 1638...1638, 1700...1715,
        ]
        expectNoDifference(FileMakerErrorCode.rows.keys.sorted(), listed.flatMap { Array($0) })
    }

    @Test func anUndocumentedCodeSurvives() {
        let code = FileMakerErrorCode(rawValue: 4242)
        #expect(code.rawValue == 4242)
        #expect(code.name == nil)
        #expect(code.hint == nil)
        #expect(code.category == .unknown)
        #expect(code.description == "4242")
        #expect(code.summary == "FileMaker error 4242: not a documented code")
    }

    @Test func aDocumentedCodeSaysItsName() {
        #expect(FileMakerErrorCode.recordMissing.description == "101 (record is missing)")
        #expect(FileMakerErrorCode.recordMissing.summary == "FileMaker error 101: record is missing")
    }

    @Test(arguments: [("0", 0), ("952", 952), ("-1", -1), ("00101", 101)])
    func aCodeArrivesAsText(text: String, number: Int) {
        #expect(FileMakerErrorCode(wireText: text)?.rawValue == number)
    }

    @Test(arguments: ["", "abc", "12.5", " 1", "99999999999999999999", "١٠١"])
    func textThatIsNoIntegerIsNoCode(text: String) {
        #expect(FileMakerErrorCode(wireText: text) == nil)
    }

    @Test(arguments: [
        (-1, FileMakerErrorCode.Category.general), (0, .success), (3, .script), (9, .privileges), (10, .request),
        (101, .missing), (112, .missing), (199, .missing), (200, .privileges), (212, .account), (214, .account),
        (301, .locking), (306, .locking), (401, .find), (500, .validation), (513, .validation), (514, .unknown),
        (714, .privileges), (729, .importExport), (802, .file), (812, .host), (870, .locking), (877, .intelligence),
        (900, .desktop), (952, .session), (956, .host), (959, .host), (960, .request), (1204, .calculation),
        (1408, .sql), (1506, .mail), (1552, .plugIn), (1631, .network), (1638, .host), (1700, .request),
        (1701, .host), (1703, .account), (1708, .request), (5000, .script), (5499, .script), (5500, .unknown),
        (-2, .unknown), (Int.max, .unknown),
    ])
    func aCodeBelongsToTheFamilyOfItsRange(number: Int, category: FileMakerErrorCode.Category) {
        #expect(FileMakerErrorCode(rawValue: number).category == category)
    }

    /// Most codes belong to the category of their range; a code that Claris adds later gets that category.
    @Test func codesAreInTheFamilyOfTheirRangeOrPlacedAmongStrangers() {
        let strangers = FileMakerErrorCode.rows.values
            .filter { FileMakerErrorCode.rangeCategory(of: $0.number) != $0.category }
        expectNoDifference(
            strangers.map(\.number).sorted(),
            [
                3, 4, 5, 6, 9, 10, 13, 18, 20, 119, 409, 410, 412, 714, 723, 724, 725, 803, 812, 813, 821, 870,
                951, 952, 953, 956, 959, 1450, 1451, 1638, 1701, 1702, 1703, 1711, 1712, 1713, 1714, 1715,
            ]
        )
    }

    /// A code that only scripts can meet has no constant, as many others, but it has a description.
    @Test func aCodeOfAScriptIsKnownByItsNumber() {
        let code: FileMakerErrorCode = 1630
        #expect(code.summary == "FileMaker error 1630: URL is malformed")
        #expect(code.category == .network)
    }

    @Test func validationCodesAre500To513() {
        expectNoDifference((-10...2000).filter { FileMakerErrorCode(rawValue: $0).isValidation }, Array(500...513))
    }

    @Test func theSameRequestMayBeSentAgainAfterAPassingStateOnly() {
        expectNoDifference(
            (-10...2000).filter { FileMakerErrorCode(rawValue: $0).isRetryable },
            [13, 16, 112, 300, 301, 302, 303, 304, 307, 308, 310, 802, 812, 870, 956, 1638, 1701]
        )
    }

    @Test func aFullHostAndALostSessionAreToldApart() {
        expectNoDifference((-10...2000).filter { FileMakerErrorCode(rawValue: $0).meansHostFull }, [812, 956, 1638])
        expectNoDifference((-10...2000).filter { FileMakerErrorCode(rawValue: $0).meansSessionLost }, [952])
    }

    @Test func hintsAreSentencesAndAddToTheName() {
        let hints = FileMakerErrorCode.rows.values.compactMap { row in row.hint.map { (row, $0) } }
        #expect(hints.count == 82)
        for (row, hint) in hints {
            #expect(hint.hasSuffix("."), "\(row.number)")
            #expect(hint != row.name, "\(row.number)")
        }
        // The codes that programs of the Data API meet most: each needs a hint.
        for number in [9, 101, 102, 104, 105, 201, 212, 301, 306, 400, 401, 500, 802, 812, 952, 956, 959, 960, 1708] {
            #expect(FileMakerErrorCode(rawValue: number).hint != nil, "\(number)")
        }
    }

    /// Tests that use the sandbox can name errors as the client does.
    @Test func theSandboxHasTheSameNames() {
        let pairs: [(FileMakerError, FileMakerErrorCode)] = [
            (.insufficientPrivileges, .insufficientPrivileges), (.recordMissing, .recordMissing),
            (.fieldMissing, .fieldMissing), (.scriptMissing, .scriptMissing), (.layoutMissing, .layoutMissing),
            (.windowMissing, .windowMissing), (.recordAccessDenied, .recordAccessDenied),
            (.fieldNotModifiable, .fieldNotModifiable), (.invalidAccount, .invalidAccount),
            (.tooManyLoginAttempts, .tooManyLoginAttempts), (.recordInUse, .recordInUse),
            (.modIdMismatch, .modIdMismatch), (.noRecordsMatch, .noRecordsMatch), (.dateInvalid, .dateInvalid),
            (.valueNotUnique, .valueNotUnique), (.valueNotInList, .valueNotInList), (.valueRequired, .valueRequired),
            (.fileNotOpened, .fileNotOpened), (.hostCapacityExceeded, .hostCapacityExceeded),
            (.invalidToken, .invalidToken), (.sessionLimitExceeded, .sessionLimitExceeded),
        ]
        for (error, code) in pairs {
            expectNoDifference(error.code, code.rawValue)
            expectNoDifference(FileMakerError(code), error)
        }
    }

    @Test func anErrorIsCaughtByItsCode() {
        struct Failure: FileMakerCodedError {
            var fileMakerCode: FileMakerErrorCode?
        }
        struct Stranger: Error {}

        func fail(_ error: any Error) throws { throw error }
        func caught(_ error: any Error) -> String {
            do {
                try fail(error)
                return "none"
            } catch FileMakerErrorCode.modIdMismatch {
                return "306"
            } catch FileMakerErrorCode.Category.validation {
                return "validation"
            } catch {
                return "other"
            }
        }
        expectNoDifference(
            [
                Failure(fileMakerCode: 306), Failure(fileMakerCode: 504), Failure(fileMakerCode: 101),
                Failure(fileMakerCode: nil), Stranger(),
            ].map(caught),
            ["306", "validation", "other", "other", "other"]
        )
    }

    @Test func aCodeIsMatchedInASwitchByConstantNumberAndNil() {
        func story(_ code: FileMakerErrorCode?) -> String {
            switch code {
            case .recordMissing: "gone"
            case 4242: "custom"
            case nil: "none"
            case let code?: "\(code.rawValue)"
            }
        }
        expectNoDifference(
            [101, 4242, nil, 7].map { $0.map(FileMakerErrorCode.init(rawValue:)) }.map(story),
            [
                "gone", "custom", "none", "7",
            ]
        )
    }
}
