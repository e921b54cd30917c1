import CommandBus
import Hummingbird
import Schemas

/// How many messages are in which state, over HTTP.
struct StatisticsRoutes: Feature {
    let cube: CubeService
    let messageLog: CommandClient

    var section: APISection {
        APISection(
            "Statistics",
            "How many messages are in which state, in total and in spans of time. The messages count that `GET /message` shows the "
                + "caller.")
    }

    var routes: [Route] {
        [
            Route(.get, "/statistics", right: .read, query: StatisticsQuery.self, answer: .ok(MessageStatistics.self), count)
                .documented(
                    "Count messages by state",
                    "`states` counts all messages, `buckets` those of each span between two `edges`, from the first edge to before the "
                        + "second one.")
        ]
    }

    private func count(_ call: Call<NoBody>, _ query: StatisticsQuery) async throws -> Answer<MessageStatistics> {
        let principal = try call.principal
        let topics = try await cube.topics(for: principal)
        var statistics = try await messageLog.statistics(query.command, of: topics, for: call.caller)
        if let oldest = statistics.oldestWaiting {
            statistics.oldestWaiting = try await cube.visible(oldest, to: principal)
        }
        return Answer(statistics)
    }
}
