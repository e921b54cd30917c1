import Base
import Testing

/// Tables in CSV, written and read.
@Suite("CSV")
struct CSVTests {
    @Test(
        "A cell is quoted where RFC 4180 requires it, and no cell is a formula",
        arguments: [
            ("plain", "plain"), ("", ""), ("a,b", #""a,b""#), (#"say "x""#, #""say ""x""""#), ("two\nlines", "\"two\nlines\""),
            ("=1+1", #""'=1+1""#), ("+49", #""'+49""#), ("-2", #""'-2""#), ("@SUM(A1)", #""'@SUM(A1)""#), ("\t=1", "\"'\t=1\""),
            ("=\"x\"", #""'=""x""""#), ("'=1", #""''=1""#), ("'s", "'s"), ("a=b", "a=b"), ("مرحبا", "مرحبا"),
            ("x;=1+1;y", #""x;'=1+1;y""#), ("x;''@a", #""x;'''@a""#), ("＝1+1", #""'＝1+1""#), ("＠a", #""'＠a""#),
            ("a\n=1", "\"a\n'=1\""), (" a ", #"" a ""#), ("a;b", #""a;b""#), ("a;\r", "\"a;\r\""), ("a;-1;+1", #""a;'-1;'+1""#),
        ])
    func cells(text: String, cell: String) throws {
        #expect(CSVLine([text, "z"]).text == cell + ",z\r\n")
        let table = try CSVTable("one,two\r\n" + CSVLine([text, "z"]).text)
        #expect(table.rows.map(\.cells) == [["one": text, "two": "z"]])
    }

    @Test(
        "Tables of other programs are read",
        arguments: [
            "a,b\n1,2\n", "a,b\r\n1,2", "\u{feff}a,b\n\n1,2\n\n", "a;b\n1;2\n", #""a","b"\#n"1","2""#, "b,a\n2,1\n",
            "A,B\n1,2\n", "a,b\r1,2\r", "sep=;\r\na;b\r\n1;2\r\n", "\u{feff}sep=,\na,b\n1,2", "a, b\n1, 2\n",
            "a , \"b\" \n 1,  \"2\"\n", "a,b,,\n1,2,,\n,,,", "a,b\n1,2,,\n", "a\tb\n1\t2\n", "a;b;\n1;2;\n",
        ])
    func foreign(text: String) throws {
        #expect(try CSVTable(text).rows.map(\.cells).filter { $0 != ["a": "", "b": ""] } == [["a": "1", "b": "2"]])
    }

    @Test("A file begins with a byte order mark, which its reader ignores")
    func header() throws {
        #expect(CSVLine(header: ["a", "b"]).text == "\u{feff}a,b\r\n")
        #expect(try CSVTable(CSVLine(header: ["a", "b"]).text).columns == ["a", "b"])
    }

    @Test("The lines of rows are counted in the text, even after a cell of several lines")
    func lines() throws {
        let table = try CSVTable("a,b\n\"1\r\n2\",3\n\n4,\"5,6\"\n")
        #expect(table.rows.map(\.line) == [2, 5])
        #expect(table.rows.map { $0.cells["a"] } == ["1\r\n2", "4"])
        #expect(table.rows.map { $0.cells["b"] } == ["3", "5,6"])
    }

    @Test(
        "A text that is not a table is refused, and the error names the line",
        arguments: [
            ("", "line 1: there is no header"), ("a,a\n", #"line 1: the column "a" is there twice"#),
            ("a,b\n1\n", "line 2: expected 2 cells, as in the header, found 1"),
            ("a,b\n1,2\n\n1,2,3\n", "line 4: expected 2 cells, as in the header, found 3"),
            ("a,b\n1,\"2\n", "line 2: a quotation mark is not closed"),
            ("a,b\n1,\"2\"x\n", "line 2: after a closing quotation mark, expected the end of the cell"),
        ])
    func damaged(text: String, problem: String) throws {
        let error = #expect(throws: CSVError.self) { try CSVTable(text) }
        #expect(error?.description == problem)
    }
}
