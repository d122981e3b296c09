import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// FileMaker says "Layout is missing" or "Script is missing"; the error adds which one it was.
@Suite(.timeLimit(.minutes(15))) struct NameSuspicionTests {
    // MARK: Layouts

    @Test func aLayoutThatIsMissingIsNamedWithTheOneThatMayBeMeant() async throws {
        try await World.run { world in
            let layout = world.database.addLayout("Contcts")
            let errors = [
                await layout.getRecords().returnAs(FieldData.self).awaitSingleResult().failure,
                await layout.createRecord(["Name": "a"]).awaitSingleResult().failure,
                await layout.getLayoutMetadata().awaitSingleResult().failure,
                await layout.runScript("Echo").awaitSingleResult().failure,
            ]
            for error in errors {
                expectNoDifference(error?.fileMakerCode, .layoutMissing)
                expectNoDifference(error?.layouts, ["Contcts"])
                expectNoDifference(
                    error?.reason,
                    #"Layout is missing: "Contcts" is no layout of "World" that the account sees."#
                )
                expectNoDifference(error?.hint, #"Did you mean "Contacts"?"#)
            }
        }
    }

    @Test func theLayoutOfTheAnswerMayBeTheOne() async throws {
        try await World.run { world in
            let one = await world.contacts.findRecords(
                query: FindQuery(query: [["Name": "*"]], layoutResponse: "Phnes")
            ).returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(one?.layouts, ["Phnes"])
            expectNoDifference(one?.hint, #"Did you mean "Phones"?"#)
            let both = await world.database.addLayout("Contcts")
                .getRecords(recordQuery: RecordQuery(layoutResponse: "Phnes"))
                .returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(both?.layouts, ["Contcts", "Phnes"])
            expectNoDifference(
                both?.reason,
                #"Layout is missing: "Contcts", "Phnes" are no layouts of "World" that the account sees."#
            )
            expectNoDifference(both?.hint, #"Did you mean "Contacts" or "Phones"?"#)
        }
    }

    @Test func layoutsInFoldersMayBeMeant() async throws {
        try await World.run { world in
            let error = await world.database.addLayout("Names / 100 % Uebersicht").getRecords()
                .returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(error?.hint, #"Did you mean "Names / 100 % Übersicht"?"#)
        }
    }

    @Test func aNameLikeNoneKeepsTheHintOfItsCode() async throws {
        try await World.run { world in
            let error = await world.database.addLayout("Invoices").getRecords().returnAs(FieldData.self)
                .awaitSingleResult().failure
            expectNoDifference(error?.layouts, ["Invoices"])
            expectNoDifference(error?.hint, FileMakerErrorCode.layoutMissing.hint)
        }
    }

    /// Something other than its name may hide a layout from the account.
    @Test func aLayoutThatIsThereIsNotBlamed() async throws {
        try await World.run { world in
            world.sandbox.inject(.error(105), on: .getRecords)
            let error = await world.contacts.getRecords().returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(error?.layouts, [])
            expectNoDifference(error?.reason, "Layout is missing")
        }
    }

    @Test func whereAHostTellsUpperFromLowerCaseThatIsTheMistake() async throws {
        try await World.run(sandbox: { $0.ignoresNameCase = false }) { world in
            let error = await world.database.addLayout("contacts").getRecords().returnAs(FieldData.self)
                .awaitSingleResult().failure
            expectNoDifference(error?.layouts, ["contacts"])
            expectNoDifference(error?.hint, #"Did you mean "Contacts"?"#)
        }
    }

    // MARK: Scripts

    @Test func theScriptsThatDoNotExistAreNamedWhateverTheirPhase() async throws {
        try await World.run { world in
            let scripts = ScriptQuery(script: "Ecko", scriptPreSort: "Echo", scriptPreRequest: "Fails")
            let error = await world.contacts.getRecords(recordQuery: RecordQuery(script: scripts))
                .returnAs(FieldData.self).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .scriptMissing)
            expectNoDifference(error?.scripts, ["Fails", "Ecko"])
            expectNoDifference(
                error?.reason,
                #"Script is missing: "Fails", "Ecko" are no scripts of "World" that the account sees."#
            )
            expectNoDifference(error?.hint, #"Did you mean "Fail" or "Echo"?"#)
            let alone = await world.contacts.runScript("Visit Al").awaitSingleResult().failure
            expectNoDifference(alone?.scripts, ["Visit Al"])
            expectNoDifference(alone?.hint, #"Did you mean "Visit All"?"#)
        }
    }

    /// A script that runs may itself look for a script that does not exist.
    @Test func theErrorOfAScriptIsAboutNoScriptOfTheRequest() async throws {
        try await World.run { world in
            let error = await world.contacts.runScript("Fail With", parameter: "104")
                .failOnScriptError().awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .scriptMissing)
            expectNoDifference(error?.scripts, [])
            expectNoDifference(world.sandbox.counters.requests[.scripts], nil)
        }
    }

    // MARK: Extra requests and their limits

    @Test func aRunOfFailuresAsksOnce() async throws {
        try await World.run { world in
            let layout = world.database.addLayout("Contcts")
            let rows = Publishers.Sequence<[Int], Never>(sequence: Array(0..<40))
                .flatMap { _ in
                    layout.createRecord(["Name": "b"]).map { _ in [String]() }.catch { Just($0.layouts) }
                }
            let layouts = try await rows.collect().setFailureType(to: FMRest.APIError.self).firstValue()
            expectNoDifference(layouts, Array(repeating: ["Contcts"], count: 40))
            let other = await world.database.addLayout("Zons").getRecords().returnAs(FieldData.self)
                .awaitSingleResult().failure
            expectNoDifference(other?.hint, #"Did you mean "Zones"?"#)
            expectNoDifference(
                world.sandbox.counters.requests[.layouts],
                1,
                "names are asked for once, whichever is missing"
            )
            expectNoDifference(world.sandbox.counters.requests[.layoutMetadata], nil)
        }
    }

    @Test func theConfigurationCanForbidIt() async throws {
        try await World.run(client: { $0.explainsErrors = false }) { world in
            let layout = await world.database.addLayout("Contcts").getRecords().returnAs(FieldData.self)
                .awaitSingleResult().failure
            expectNoDifference(layout?.reason, "Layout is missing")
            let script = await world.contacts.runScript("Ecko").awaitSingleResult().failure
            expectNoDifference(script?.reason, "Script is missing")
            expectNoDifference(world.sandbox.counters.requests[.layouts], nil)
            expectNoDifference(world.sandbox.counters.requests[.scripts], nil)
        }
    }

    @Test(arguments: [Sandbox.Fault.html(status: 502), .error(9), .empty(status: 404), .reset, .error(105)])
    func withoutAnAnswerTheErrorStaysAsItIs(fault: Sandbox.Fault) async throws {
        try await World.run { world in
            world.sandbox.inject(fault, on: .layouts, count: nil)
            let error = await world.database.addLayout("Contcts").getRecords().returnAs(FieldData.self)
                .awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .layoutMissing)
            expectNoDifference(error?.reason, "Layout is missing")
            expectNoDifference(error?.layouts, [])
            world.sandbox.clearFaults()
        }
    }

    /// To explain that a field is missing, the client requests the layout's metadata. If that fails because the layout
    /// is missing, no further request follows.
    @Test func whatIsAskedToExplainAnErrorIsNotExplainedItself() async throws {
        try await World.run { world in
            world.sandbox.inject(.error(105), on: .layoutMetadata, count: nil)
            let error = await world.contacts.editRecord(["Nmae": "b"], recordId: 1).awaitSingleResult().failure
            expectNoDifference(error?.fileMakerCode, .fieldMissing)
            expectNoDifference(world.sandbox.counters.requests[.layouts], nil)
            world.sandbox.clearFaults()
        }
    }

    @Test func oneSessionIsEnoughAlsoWhenItIsPinned() async throws {
        try await World.run { world in
            let error = await world.database.withSessionPublisher { pinned in
                pinned.addLayout("Contcts").getRecords().returnAs(FieldData.self)
            }
            .awaitSingleResult().failure
            expectNoDifference(error?.layouts, ["Contcts"])
            expectNoDifference(world.sandbox.counters.logins, 1)
        }
    }

    // MARK: Lists of names

    @Test func namesOfLayoutsAndScriptsAreFlat() async throws {
        try await World.run { world in
            let layouts = try await world.database.layoutNames().firstValue()
            expectNoDifference(layouts, world.database.layoutList.flatMap(\.allLayouts).map(\.name))
            #expect(layouts.contains("Names / 100 % Übersicht"), "what is in a folder is there")
            #expect(!layouts.contains("Admin"), "a folder is no layout")
            let scripts = try await world.database.scriptNames().firstValue()
            expectNoDifference(scripts, world.database.scriptList.flatMap(\.allScripts))
            #expect(scripts.contains("Echo") && !scripts.contains("-"))
        }
    }
}
