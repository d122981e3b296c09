import CustomDump
import FMSandbox
import Testing

@testable import FMDataCLI

@Suite struct FaultArgumentTests {
    @Test(arguments: [
        ("reset", Sandbox.FaultRule(.reset)),
        ("resetAfterExecution", Sandbox.FaultRule(.resetAfterExecution)),
        ("expireToken", Sandbox.FaultRule(.expireToken)),
        ("restart", Sandbox.FaultRule(.restart)),
        ("fullHost", Sandbox.FaultRule(.fullHost)),
        ("brokenJSON", Sandbox.FaultRule(.brokenJSON)),
        ("html", Sandbox.FaultRule(.html(status: 502))),
        ("html503", Sandbox.FaultRule(.html(status: 503))),
        ("htmlAfterExecution", Sandbox.FaultRule(.htmlAfterExecution(status: 504))),
        ("htmlAfterExecution502", Sandbox.FaultRule(.htmlAfterExecution(status: 502))),
        ("empty", Sandbox.FaultRule(.empty(status: 503))),
        ("empty504", Sandbox.FaultRule(.empty(status: 504))),
        ("delay250", Sandbox.FaultRule(.delay(.milliseconds(250)))),
        ("cut", Sandbox.FaultRule(.cut(afterBodyBytes: 0))),
        ("cut100", Sandbox.FaultRule(.cut(afterBodyBytes: 100))),
        ("refuseToken", Sandbox.FaultRule(.refuseToken)),
        ("refuseFreshToken*2", Sandbox.FaultRule(.refuseFreshToken, count: 2)),
        ("lostLogout", Sandbox.FaultRule(.lostLogout)),
        ("lateLogout250", Sandbox.FaultRule(.lateLogout(.milliseconds(250)))),
        ("holdAnswer", Sandbox.FaultRule(.holdAnswer)),
        ("closeAfterAnswer", Sandbox.FaultRule(.closeAfterAnswer)),
        ("find:cutAnswer17", Sandbox.FaultRule(.cutAnswer(afterBytes: 17), on: .find)),
        ("cutChunked", Sandbox.FaultRule(.cutAnswer(afterBytes: 0, framing: .chunked))),
        ("badChunkSize", Sandbox.FaultRule(.badChunkSize(.notHexadecimal))),
        ("badChunkSize20", Sandbox.FaultRule(.badChunkSize(.notHexadecimal, afterBodyBytes: 20))),
        ("badChunkSize20=tooLarge+1", Sandbox.FaultRule(.badChunkSize(.tooLarge, afterBodyBytes: 20), skipping: 1)),
        ("badChunkSize=missing", Sandbox.FaultRule(.badChunkSize(.missing))),
        ("error401", Sandbox.FaultRule(.error(FileMakerError(401)))),
        ("reset*3", Sandbox.FaultRule(.reset, count: 3)),
        ("reset*always", Sandbox.FaultRule(.reset, count: nil)),
        ("reset+2", Sandbox.FaultRule(.reset, skipping: 2)),
        ("login:fullHost+1*3", Sandbox.FaultRule(.fullHost, on: .login, skipping: 1, count: 3)),
        ("find:reset", Sandbox.FaultRule(.reset, on: .find)),
        ("getRecords:html502*2", Sandbox.FaultRule(.html(status: 502), on: .getRecords, count: 2)),
    ])
    func aFaultIsRead(_ text: String, _ rule: Sandbox.FaultRule) throws {
        expectNoDifference(try FaultArgument(text).rule, rule)
    }

    @Test(arguments: [
        "", "nothing", "find", "find:", ":reset", "Find:reset", "nowhere:reset", "reset*", "reset*0", "reset*-1",
        "reset*x", "*2", "reset+0", "reset+x", "reset*2+1", "reset*ALWAYS", "+1", "reset5", "delay", "delay-5",
        "delay+5", "delay1.5", "cut-1", "error", "html-1", "html100",
        "html999", "empty0", "html50299999999999999999999", "find:find:reset", "reset ",
        "lateLogout", "holdAnswer5", "reset=tooLarge", "badChunkSize=", "badChunkSize=x", "badChunkSizex",
    ])
    func nonsenseIsRefused(_ text: String) {
        #expect(throws: FaultArgument.Failure.self) { try FaultArgument(text) }
    }

    private static let faults = FaultArgument.faults.joined(separator: ", ")

    private static let endpoints = Sandbox.Endpoint.allCases.map(\.rawValue).joined(separator: ", ")

    @Test(arguments: [
        ("nonsense", "unknown fault \"nonsense\"; known are \(faults)"),
        ("find:rest", "unknown fault \"rest\"; did you mean reset? known are \(faults)"),
        ("brokenJson", "unknown fault \"brokenJson\"; did you mean brokenJSON? known are \(faults)"),
        ("Find:reset", "unknown endpoint \"Find\"; did you mean find? known are \(endpoints)"),
        ("getRecord:fnid:reset", "unknown fault \"fnid:reset\"; known are \(faults)"),
        ("reset*0", "after * comes how many times it strikes, from 1 on, or always: reset*0"),
        ("reset+x*2", "after + comes how many requests it lets pass, from 1 on, before any *: reset+x*2"),
        ("html999", "html takes a status from 200 to 599"), ("delay", "delay takes milliseconds: delay250"),
        ("lateLogout", "lateLogout takes milliseconds: lateLogout250"),
        (
            "badChunkSize=toLarge",
            "unknown mistake \"toLarge\"; did you mean tooLarge? known are missing, notHexadecimal, negative, overflow, "
                + "tooSmall, tooLarge"
        ),
        ("error", "error takes a FileMaker error code: error401"), ("reset5", "reset takes no number"),
    ])
    func whatIsWrongIsSaid(_ text: String, _ reason: String) {
        let failure = #expect(throws: FaultArgument.Failure.self) { try FaultArgument(text) }
        expectNoDifference(failure?.reason, reason)
        expectNoDifference(
            #expect(throws: ControlCommand.Failure.self) { try ControlCommand("fault \(text)") },
            ControlCommand.Failure(reason: reason)
        )
    }

    /// Every fault in the list is valid, and the list shows what follows a name.
    @Test func theListIsTrue() throws {
        let forms: Set = [
            "reset", "delay<milliseconds>", "cutAnswer<bytes>", "badChunkSize<bytes>=<mistake>", "html<status>",
            "error<code>",
        ]
        #expect(forms.isSubset(of: FaultArgument.faults))
        for name in FaultArgument.faults {
            let example = name.contains("<") ? name.prefix { $0 != "<" } + "401" : name[...]
            #expect(throws: Never.self) { try FaultArgument(String(example)) }
        }
    }
}
