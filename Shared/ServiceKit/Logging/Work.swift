package import Logging

/// What a task is at work on: carried by the task and its children, and written into each of their log lines.
package struct Work: Sendable {
    /// The HTTP request that led to it: the trace id of its W3C trace context, 32 hexadecimal digits.
    package var requestID: String?
    /// The message that it is about.
    package var msiKey: String?

    @TaskLocal package static var current = Work()

    package init(requestID: String? = nil, msiKey: String? = nil) {
        self.requestID = requestID
        self.msiKey = msiKey
    }

    /// Runs something as part of some work.
    package static func on<Result>(
        _ work: Work, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(work, operation: body, isolation: isolation)
    }
}

extension Logger.MetadataProvider {
    /// The work at hand, as `request_id` and `msi_key`.
    package static let work = Logger.MetadataProvider {
        let work = Work.current
        var metadata: Logger.Metadata = [:]
        if let requestID = work.requestID { metadata["request_id"] = "\(requestID)" }
        if let msiKey = work.msiKey { metadata["msi_key"] = "\(msiKey)" }
        return metadata
    }
}
