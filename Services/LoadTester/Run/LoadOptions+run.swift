import FoundationEssentials
import Glibc
import JSON
import Schemas
import UnixSignals

extension LoadOptions {
    /// The requested messages.
    var mix: MessageMix {
        MessageMix(topics: topics, alerts: alerts, text: text.range, seed: seed)
    }

    /// Sends the load to a target. Writes progress to standard error and the figures to standard output. Ctrl-C ends it early,
    /// with the figures so far.
    ///
    /// - Parameter phones: Counts at the phones after the load.
    /// - Returns: Whether a message was accepted, if any was sent, the phones have each accepted one once, and the files were written.
    func run(
        _ name: String, _ target: some LoadTarget, phones: (@Sendable () async throws -> PhoneReport)? = nil
    ) async -> Bool {
        let load = LoadRun(target: target, rate: rate, duration: duration, ramp: ramp, inFlight: inFlight) { interval in
            Self.tell(ReportTable.line(interval))
        }
        let bottlenecks = BottleneckRecorder()
        let watching = Task { await bottlenecks.watch(target) }
        let running = Task { await load.run() }
        let interruption = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { running.cancel() }
        }
        let (totals, seconds) = await running.value
        interruption.cancel()
        watching.cancel()
        let counted: PhoneReport?
        do {
            counted = try await phones?()
        } catch {
            Self.tell("\(error)")
            counted = nil
        }
        let isComplete = phones == nil || counted?.isComplete == true
        let report = LoadReport(name, self, totals, seconds: seconds, bottlenecks: bottlenecks.totals, phones: counted)
        print(ReportTable(report: report))
        var isWritten = true
        if let json { isWritten = write(json) { try JSONCoder.encode(report) } }
        if let svg { isWritten = write(svg) { Data(LatencyPlot(figures: PlotFigures(report)).description.utf8) } && isWritten }
        return isWritten && isComplete && (report.sent == 0 || report.accepted > 0)
    }

    /// Writes a file of the figures, which are on the terminal already. A failure is only reported.
    ///
    /// - Returns: Whether the file was written.
    private func write(_ path: String, _ content: () throws -> Data) -> Bool {
        do {
            try content().write(to: URL(filePath: path))
            return true
        } catch {
            Self.tell("\(path) cannot be written: \(error)")
            return false
        }
    }

    /// Writes a line to standard error.
    static func tell(_ line: String) {
        // A single write, so that lines of several processes do not mix.
        let text = line + "\n"
        _ = Glibc.write(STDERR_FILENO, text, text.utf8.count)
    }
}
