import FoundationEssentials
import Glibc
import JSON
import Schemas
import UnixSignals

extension LoadOptions {
    /// The messages that are asked for.
    var mix: MessageMix {
        MessageMix(topics: topics, alerts: alerts, text: text.range, seed: seed)
    }

    /// Sends the load to a target, tells how it goes on standard error, and the figures on standard output. Ctrl-C ends it
    /// early, with the figures so far.
    ///
    /// - Returns: Whether any message was accepted, if one was sent, and the files are written.
    func run(_ name: String, _ target: some LoadTarget) async -> Bool {
        let load = LoadRun(target: target, rate: rate, duration: duration, ramp: ramp, inFlight: inFlight) { interval in
            Self.tell(ReportTable.line(interval))
        }
        let holdups = HoldupRecorder()
        let watching = Task { await holdups.watch(target) }
        let running = Task { await load.run() }
        let interruption = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { running.cancel() }
        }
        let (totals, seconds) = await running.value
        interruption.cancel()
        watching.cancel()
        let report = LoadReport(name, self, totals, seconds: seconds, holdups: holdups.totals)
        print(ReportTable(report: report))
        var isWritten = true
        if let json { isWritten = write(json) { try JSONCoder.encode(report) } }
        if let svg { isWritten = write(svg) { Data(LatencyPlot(figures: PlotFigures(report)).description.utf8) } && isWritten }
        return isWritten && (report.sent == 0 || report.accepted > 0)
    }

    /// A file that cannot be written does not take the figures along, which are on the terminal already.
    ///
    /// - Returns: Whether it was.
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
        // One write, so that lines of several processes do not mix.
        let text = line + "\n"
        _ = Glibc.write(STDERR_FILENO, text, text.utf8.count)
    }
}
