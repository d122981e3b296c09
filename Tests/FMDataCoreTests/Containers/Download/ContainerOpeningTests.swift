import CustomDump
import FMData
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

@Suite struct ContainerOpeningTests {
    @Test func aRecordThatSaysNothingOfTheContainerIsAFailure() {
        let subscriber = TrackingSubscriber<OpenedContainer, FMRest.APIError>()
        ContainerOpening(
            server: DataAPI.Server(host: "h"),
            token: SessionToken("T"),
            location: Empty().eraseToAnyPublisher()
        )
        .subscribe(subscriber)
        expectNoDifference(subscriber.completionIfAny?.code, .noValue)
        expectNoDifference(subscriber.values.count, 0)
    }
}
