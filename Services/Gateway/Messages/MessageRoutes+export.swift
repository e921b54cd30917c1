import CommandBus
import Schemas

extension MessageRoutes {
    /// All messages that match, as a CSV file. If the caller loses the right on the way, the connection breaks. Each part has only
    /// messages that the caller may read then.
    func export(_ call: Call<NoBody>, _ query: HistoryQuery) async throws -> Answer<Page> {
        let (caller, principal) = (call.caller, try call.principal)
        let first = try await messageLog.history(
            query.export(before: nil), for: try await cube.reader(principal), caller)
        return .csv(
            "messages.csv", header: .messageHeader, on: call.context.channel, first: CSVPart(first)
        ) { [cube, messageLog, lookUp] cursor in
            let principal = try await principal.checkedAgain(lookUp)
            try principal.requireSecondFactor()
            try principal.require(.read)
            let reader = try await cube.reader(principal)
            return CSVPart(try await messageLog.history(query.export(before: cursor), for: reader, caller))
        }
    }
}
