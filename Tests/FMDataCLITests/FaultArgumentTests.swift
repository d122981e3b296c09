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
        ("empty", Sandbox.FaultRule(.empty(status: 503))),
        ("empty504", Sandbox.FaultRule(.empty(status: 504))),
        ("delay250", Sandbox.FaultRule(.delay(.milliseconds(250)))),
        ("cut", Sandbox.FaultRule(.cut(afterBodyBytes: 0))),
        ("cut100", Sandbox.FaultRule(.cut(afterBodyBytes: 100))),
        ("error401", Sandbox.FaultRule(.error(FileMakerError(401)))),
        ("reset*3", Sandbox.FaultRule(.reset, count: 3)),
        ("reset*always", Sandbox.FaultRule(.reset, count: nil)),
        ("reset+2", Sandbox.FaultRule(.reset, skipping: 2)),
        ("login:fullHost+1*3", Sandbox.FaultRule(.fullHost, on: .login, skipping: 1, count: 3)),
        ("find:reset", Sandbox.FaultRule(.reset, on: .find)),
        ("getRecords:html502*2", Sandbox.FaultRule(.html(status: 502), on: .getRecords, count: 2)),
    ])
    func aFaultIsRead(_ text: String, _ rule: Sandbox.FaultRule) {
        expectNoDifference(FaultArgument(argument: text)?.rule, rule)
    }

    @Test(arguments: [
        "", "nothing", "find", "find:", ":reset", "Find:reset", "nowhere:reset", "reset*", "reset*0", "reset*-1",
        "reset*x", "*2", "reset+0", "reset+x", "reset*2+1", "reset*ALWAYS", "+1", "reset5", "delay", "delay-5",
        "delay+5", "delay1.5", "cut-1", "error", "html-1", "html100",
        "html999", "empty0", "html50299999999999999999999", "find:find:reset", "reset ",
    ])
    func nonsenseIsRefused(_ text: String) {
        #expect(FaultArgument(argument: text) == nil)
    }
}
