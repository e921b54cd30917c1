import ArgumentParser
import Testing

@testable import LoadTester

/// The axes of a plot.
@Suite("Plot")
struct PlotTests {
    @Test("Ticks are round, and reach beyond the largest value")
    func linear() {
        #expect(AxisScale.linear(to: 4_838.906).ticks == [0, 1_000, 2_000, 3_000, 4_000, 5_000])
        #expect(AxisScale.linear(to: 40).ticks == [0, 10, 20, 30, 40])
        #expect(AxisScale.linear(to: 0.5).ticks.last == 0.5)
        #expect(AxisScale.linear(to: 0).ticks.count > 1)
        for largest in stride(from: 0.037, to: 90_000, by: 3_737.3) {
            let axis = AxisScale.linear(to: largest)
            #expect((3...7).contains(axis.ticks.count) && axis.high >= largest && axis.high < largest * 2, "\(largest)")
            #expect(axis.share(of: largest) <= 1 && axis.share(of: 0) == 0)
        }
    }

    @Test("Latencies of very different sizes have a logarithmic axis")
    func logarithmic() {
        let wide = AxisScale.fitting(0.42, 16_351)
        #expect(wide.isLogarithmic && wide.ticks == [0.1, 1, 10, 100, 1_000, 10_000, 100_000])
        let narrow = AxisScale.fitting(3.1, 75)
        #expect(narrow.isLogarithmic && narrow.ticks == [2, 5, 10, 20, 50, 100])
        #expect(abs(narrow.share(of: 2)) < 1e-9 && abs(narrow.share(of: 100) - 1) < 1e-9)
        #expect(narrow.share(of: 0) == 0 && narrow.share(of: 1_000) == 1)
        #expect(!AxisScale.fitting(20, 25).isLogarithmic && !AxisScale.fitting(0, 25).isLogarithmic)
    }

    @Test("Numbers are short and have their unit")
    func quantities() {
        #expect(Quantity.latency(milliseconds: 0.5) == "500 µs" && Quantity.latency(milliseconds: 16_351) == "16.4 s")
        #expect(Quantity.latency(milliseconds: 4.1234) == "4.12 ms" && Quantity.latency(milliseconds: 0) == "0")
        #expect(Quantity.number(4_838.906) == "4,839" && Quantity.number(1_234_567) == "1,234,567")
        #expect(Quantity.number(20_000, digits: 12) == "20,000")
        #expect(Quantity.time(seconds: 90) == "90 s" && Quantity.time(seconds: 1_800, upTo: 7_200) == "0.5 h")
    }

    @Test("A short last interval is merged with the one before, and a long load has one point for several intervals")
    func intervals() throws {
        var totals = LoadRecorder.Totals()
        totals.intervals = (1...3_000).map { interval(Double($0), answered: 10) } + [interval(3_000.2, answered: 40)]
        totals.lastAnswer = 3_000.2
        let figures = PlotFigures(LoadReport("relay", try LoadOptions.parse(["--rate", "10"]), totals, seconds: 3_000))
        #expect(figures.seconds.count == 3_000)
        #expect(figures.seconds.last?.answered == 50 && figures.seconds.last?.end == 3_000.2)
        let plot = "\(LatencyPlot(figures: figures))"
        #expect(plot.utf8.count < 40_000)
        #expect(plot.contains("prefers-color-scheme:dark"))
    }

    @Test("A plot of a load with a ramp shows the latencies of each second of the ramp by its rate")
    func latencyByRate() throws {
        var totals = LoadRecorder.Totals()
        totals.intervals = (1...12).map { interval(Double($0), answered: 10) }
        func figures(_ arguments: [String]) throws -> PlotFigures {
            PlotFigures(LoadReport("gateway", try LoadOptions.parse(["--rate", "1000"] + arguments), totals, seconds: 12))
        }
        let name = "Latency by requested rate"
        let rising = try figures(["--duration", "12", "--ramp", "10"])
        #expect(rising.rates.map { $0.rate.rounded() } == Array(stride(from: 50, to: 1_000, by: 100)))
        #expect(rising.rates.allSatisfy { $0.median == 1 && $0.p99 == 2 })
        #expect("\(LatencyPlot(figures: rising))".contains(name))
        for arguments in [["--duration", "12"], ["--duration", "12", "--ramp", "2"]] {
            #expect(!"\(LatencyPlot(figures: try figures(arguments)))".contains(name), "\(arguments)")
        }
    }

    private func interval(_ time: Double, answered: Int) -> LoadRecorder.Interval {
        LoadRecorder.Interval(time: time, answered: answered, failed: 0, median: 1, p99: 2, longest: 3)
    }
}
